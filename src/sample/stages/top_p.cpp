// Top-p (nucleus): the shortest prefix in rank order with at least this probability, the token that
// crosses the line included. 0 keeps the best token.
// Source: Holtzman et al., "The curious case of neural text degeneration", 2019.
#include "sample/param_range.h"
#include "sample/stage.h"

namespace arion {

const Stage& stage_top_p() {
  static const Stage stage = {
      .name = "top_p",
      .is_on = [](const SamplingParams& params) { return params.top_p < 1.0f; },
      .check = [](const SamplingParams& params) { check_range("top_p", params.top_p, 0.0f, 1.0f); },
      .apply = [](Survivors& survivors, const SamplingParams& params,
                  const SampleKey&) { survivors.keep_mass(static_cast<double>(params.top_p)); },
  };
  return stage;
}

}  // namespace arion
