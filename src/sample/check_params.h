// The borders of sampling parameters.
#pragma once
#include <limits>

#include "sequence/sampling_params.h"

namespace arion {

inline constexpr float kMaxTemperature = 100.0f;
// Below this the noise is lost in the rounding of l/T: the same as greedy, and treated so.
inline constexpr float kGreedyTemperature = 1e-5f;
inline constexpr int kMaxLogprobs = 1024;
inline constexpr float kMaxLogitBias = 1000.0f;

struct NumberRange {
  double low, high;
  bool contains(double value) const { return value >= low && value <= high; }  // never NaN
};
inline constexpr NumberRange kTemperatureRange = {0, kMaxTemperature};
inline constexpr NumberRange kShareRange = {0, 1};  // top_p, min_p, ...
inline constexpr NumberRange kTopKRange = {-1, std::numeric_limits<int>::max()};

// Throws Error{bad_input} naming the parameter, its value and the allowed range. `vocab` is the
// number of tokens that can be sampled.
//
//   temperature            0 to 100            mirostat version       0, 1, 2
//   dynatemp_range         0 to 100            mirostat tau           0 to 100
//   dynatemp_exponent      0 to 100            mirostat eta           0 to 1
//   top_k                  -1 or more          adaptive target        at most 1; below 0 = off
//   top_p, min_p, top_h    0 to 1              adaptive decay         0 to 0.99
//   typical_p              above 0 to 1        repetition penalty     0.01 to 100
//   top_n_sigma            0 to 1000           presence, frequency    -100 to 100
//   epsilon, eta cut-off   0 to 1              last_n (penalties, dry)  -1 or more
//   xtc probability        0 to 1              dry multiplier         0 to 100
//   xtc threshold          0 to 1              dry base               1 to 100
//   logprobs               -1 to 1024          dry allowed length     1 or more
//
//   logit_bias    tokens of the vocabulary, -1000 to 1000 or -infinity
//   bad_words     not empty, tokens of the vocabulary
//   dry breakers  ascending tokens of the vocabulary
//   order         see check_order; mirostat and adaptive-p exclude each other
void check_params(const SamplingParams& params, int vocab);

// Whether the best token is taken, whatever the seed.
bool is_greedy(const SamplingParams& params);

}  // namespace arion
