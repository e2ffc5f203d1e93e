// Log probabilities of a sampled token and its rivals.
#pragma once
#include <span>
#include <vector>

#include "sample/stages.h"

namespace arion {

struct TokenLogprob {
  TokenId id = 0;
  float logprob = 0;  // <= 0; -infinity for what the stages removed

  bool operator==(const TokenLogprob&) const = default;
};

struct TokenLogprobs {
  float chosen = 0;
  std::vector<TokenLogprob> top;  // params.logprobs entries at most, in candidate order
};

// Per params.logprobs_of: of the row itself, or of what `survivors` left at params.temperature.
TokenLogprobs compute_logprobs(std::span<const float> logits, const Peak& peak,
                               const Survivors& survivors, const SamplingParams& params,
                               TokenId chosen);

}  // namespace arion
