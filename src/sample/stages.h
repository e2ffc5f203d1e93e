// Top-k, top-p and min-p: which tokens may be sampled.
//
// Every stage keeps a prefix of the candidates in order (larger logit first, ties to the lower
// id), so they combine by the shorter prefix. They apply in llama.cpp's order, on the logits
// before temperature:
//   top-k  the k first;
//   top-p  the shortest prefix whose mass is at least top_p of what top-k left, the token that
//          crosses the line included;
//   min-p  those with p >= min_p * largest p, that is l >= l_max + ln(min_p).
// The token with the largest logit always survives.
#pragma once
#include <span>
#include <vector>

#include "sample/candidates.h"
#include "sequence/sampling_params.h"

namespace arion {

struct Survivors {
  bool is_everything = false;   // no stage is on; `kept` is then empty
  std::vector<Candidate> kept;  // in any order
  std::vector<float> summands;  // memory reused from row to row
};

// `peak` is find_peak(logits). Reuses the memory of `out`.
void apply_stages(std::span<const float> logits, const Peak& peak, const SamplingParams& params,
                  Survivors& out);

}  // namespace arion
