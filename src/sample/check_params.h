// The borders of sampling parameters.
#pragma once
#include "sequence/sampling_params.h"

namespace arion {

inline constexpr float kMaxTemperature = 100.0f;
// Below this the noise is lost in the rounding of l/T: the same as greedy, and treated so.
inline constexpr float kGreedyTemperature = 1e-5f;
inline constexpr int kMaxLogprobs = 1024;

// Throws Error{bad_input} naming the parameter, its value and the allowed range:
//   temperature 0 to 100; top_k -1 (= 0, off) or more; top_p and min_p 0 to 1; logprobs -1 to 1024.
void check_params(const SamplingParams& params);

inline bool is_greedy(const SamplingParams& params) {
  return params.temperature < kGreedyTemperature || params.top_k == 1;
}

}  // namespace arion
