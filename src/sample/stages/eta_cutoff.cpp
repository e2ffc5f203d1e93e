// Eta cut-off: tokens with p >= min(eta, sqrt(eta) * e^-H), H the entropy, and the best one
// with its equals.
// Source: Hewitt et al., "Truncation sampling as language model desmoothing", 2022.
#include <algorithm>
#include <cmath>

#include "base/real_math.h"
#include "sample/param_range.h"
#include "sample/stage.h"

namespace arion {

const Stage& stage_eta_cutoff() {
  static const Stage stage = {
      .name = "eta_cutoff",
      .is_on = [](const SamplingParams& params) { return params.eta_cutoff > 0.0f; },
      .check =
          [](const SamplingParams& params) {
            check_range("eta_cutoff", params.eta_cutoff, 0.0f, 1.0f);
          },
      .apply =
          [](Survivors& survivors, const SamplingParams& params, const SampleKey&) {
            const auto eta = static_cast<double>(params.eta_cutoff);
            const Moments moments = survivors.moments();
            const double least = std::min(eta, std::sqrt(eta) * real::exp(-moments.entropy()));
            survivors.keep_at_least(survivors.logit_of_weight(least * moments.mass));
          },
  };
  return stage;
}

}  // namespace arion
