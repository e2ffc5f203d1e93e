// Top-h: of the 100 best tokens, those first in rank order whose terms -p ln p add up to at most
// top_h times the entropy of the 100; the best one always. p is renormalised over the 100.
// Source: Potraghloo et al., "Top-H decoding: adapting the creativity and coherence with bounded
// entropy in text generation", 2025.
#include <algorithm>

#include "base/real_math.h"
#include "sample/param_range.h"
#include "sample/stage.h"

namespace arion {
namespace {

constexpr size_t kTokens = 100;

void keep_share_of_entropy(Survivors& survivors, double share) {
  survivors.keep_first(kTokens);
  const std::span<const Candidate> sorted = survivors.sorted();
  const Moments moments = survivors.moments();
  const double limit = share * moments.entropy();
  const double log_mass = real::log(moments.mass);
  double sum = 0;
  size_t kept = 0;
  for (; kept < sorted.size(); ++kept) {
    const double weight = static_cast<double>(survivors.weight(sorted[kept].logit));
    if (weight > 0) sum += weight / moments.mass * (log_mass - real::log(weight));
    if (sum > limit) break;
  }
  survivors.keep_first(std::max<size_t>(kept, 1));
}

}  // namespace

const Stage& stage_top_h() {
  static const Stage stage = {
      .name = "top_h",
      .is_on = [](const SamplingParams& params) { return params.top_h > 0.0f; },
      .check = [](const SamplingParams& params) { check_range("top_h", params.top_h, 0.0f, 1.0f); },
      .apply =
          [](Survivors& survivors, const SamplingParams& params, const SampleKey&) {
            keep_share_of_entropy(survivors, static_cast<double>(params.top_h));
          },
  };
  return stage;
}

}  // namespace arion
