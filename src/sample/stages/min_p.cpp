// Min-p: tokens with p >= min_p * largest p.
// Source: Nguyen et al., "Turning up the heat: min-p sampling for creative and coherent LLM
// outputs", 2024.
#include "sample/param_range.h"
#include "sample/stage.h"

namespace arion {

const Stage& stage_min_p() {
  static const Stage stage = {
      .name = "min_p",
      .is_on = [](const SamplingParams& params) { return params.min_p > 0.0f; },
      .check = [](const SamplingParams& params) { check_range("min_p", params.min_p, 0.0f, 1.0f); },
      .apply =
          [](Survivors& survivors, const SamplingParams& params, const SampleKey&) {
            const auto min_p = static_cast<double>(params.min_p);
            survivors.keep_at_least(survivors.logit_of_weight(min_p));
          },
  };
  return stage;
}

}  // namespace arion
