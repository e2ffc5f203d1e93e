// How a request wants its tokens chosen.
#pragma once
#include <cstdint>
#include <optional>

namespace arion {

// Which distribution log probabilities describe.
enum class LogprobsOf : uint8_t {
  model,      // log-softmax of the model's logits, whatever the stages below
  processed,  // log-softmax over what the stages left, temperature included
};

// The stages apply in the order of the fields: top-k, top-p, min-p, temperature. See
// sample/check_params.h for the allowed ranges.
struct SamplingParams {
  int top_k = 0;                                // keep the k largest; 0 or -1 = all
  float top_p = 1.0f;                           // keep the smallest set with this mass; 1 = all
  float min_p = 0.0f;                           // keep p >= min_p * largest p; 0 = all
  float temperature = 1.0f;                     // 0 = greedy
  std::optional<uint64_t> seed = std::nullopt;  // absent: drawn from the system, and reported
  int logprobs = -1;  // -1: none; n >= 0: the chosen token's and the n largest
  LogprobsOf logprobs_of = LogprobsOf::model;
};

}  // namespace arion
