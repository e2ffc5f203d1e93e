// Adaptive-p: prefers tokens whose probability is near a target that follows the answer.
//
// With a = clamp(2 target - average, 0, 1), the average of the probabilities of earlier tokens
// weighted by decay^age, and d = |p - a| / 0.3, the logit becomes 5 - 10 d^2 / (1 + d), at
// temperature 1. After the draw the chosen token's p, from before the change, joins the average.
// Put a truncation (min-p) before it: the change lifts every token of the tail. Source:
// MrJackSpade, "Adaptive-P sampling", 2025, as in llama.cpp.
#pragma once
#include "sample/sampler_state.h"
#include "sample/survivors.h"

namespace arion {

// Throws Error{bad_input}: target at most 1, negative = off; decay 0 to 0.99.
void check_adaptive(const AdaptiveParams& params);

class AdaptiveP {
 public:
  void apply(Survivors& survivors, const AdaptiveParams& params, const SamplerState& state);

  // `chosen` was drawn from what the last apply() left.
  void update(TokenId chosen, const AdaptiveParams& params, SamplerState& state) const;

 private:
  struct Probability {
    TokenId token;
    float p;
  };

  std::vector<Probability> before_;  // the change
  std::vector<Candidate> after_;
};

}  // namespace arion
