// Epsilon cut-off: tokens with p >= epsilon, and the best one with its equals.
// Source: Hewitt et al., "Truncation sampling as language model desmoothing", 2022.
#include "sample/param_range.h"
#include "sample/stage.h"

namespace arion {

const Stage& stage_epsilon_cutoff() {
  static const Stage stage = {
      .name = "epsilon_cutoff",
      .is_on = [](const SamplingParams& params) { return params.epsilon_cutoff > 0.0f; },
      .check =
          [](const SamplingParams& params) {
            check_range("epsilon_cutoff", params.epsilon_cutoff, 0.0f, 1.0f);
          },
      .apply =
          [](Survivors& survivors, const SamplingParams& params, const SampleKey&) {
            const auto epsilon = static_cast<double>(params.epsilon_cutoff);
            survivors.keep_at_least(survivors.logit_of_weight(epsilon * survivors.moments().mass));
          },
  };
  return stage;
}

}  // namespace arion
