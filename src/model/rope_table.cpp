// Plain, linear and YaRN frequencies, in double and with this library's own pow and log.
#include "model/rope_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/real_math.h"

namespace arion {
namespace {

// YaRN (Peng et al. 2023): the pair at which a rotation turns `turns` times in the original
// context.
double correction_pair(double turns, int dims, double base, double original_context) {
  return dims * real::log(original_context / (turns * 2 * std::numbers::pi)) /
         (2 * real::log(base));
}

// How much longer attention's logits must be after stretching, for a share of the correction.
double yarn_magnitude(double factor, double share) {
  return factor <= 1 ? 1.0 : 0.1 * share * real::log(factor) + 1.0;
}

void apply_yarn(RopeTable& table, int dims, double base, const RopeScaling& scaling) {
  const double low = std::max(
      std::floor(correction_pair(scaling.beta_fast, dims, base, scaling.original_context)), 0.0);
  const double high =
      std::min(std::ceil(correction_pair(scaling.beta_slow, dims, base, scaling.original_context)),
               static_cast<double>(dims - 1));
  for (size_t i = 0; i < table.inverse_frequencies.size(); ++i) {
    const double ramp =
        std::clamp((static_cast<double>(i) - low) / std::max(high - low, 0.001), 0.0, 1.0);
    const double unstretched = (1 - ramp) * scaling.extrapolation;
    double& frequency = table.inverse_frequencies[i];
    frequency = frequency / scaling.factor * (1 - unstretched) + frequency * unstretched;
  }
}

// What cos and sin are multiplied with. Without extrapolation YaRN is a linear stretch.
double magnitude(const RopeScaling& scaling) {
  if (scaling.type != RopeScaling::Type::yarn || scaling.extrapolation == 0) return 1.0;
  if (scaling.magnitude > 0) return scaling.magnitude;
  const double all =
      scaling.log_multiplier > 0 ? yarn_magnitude(scaling.factor, scaling.log_multiplier) : 1.0;
  return yarn_magnitude(scaling.factor, 1) / all;
}

}  // namespace

RopeTable make_rope_table(int dims, double base, const RopeScaling& scaling,
                          std::span<const float> divisors) {
  RopeTable table;
  for (int i = 0; i < dims / 2; ++i) {
    double frequency = real::pow(base, -2.0 * i / dims);
    if (!divisors.empty()) frequency /= static_cast<double>(divisors[static_cast<size_t>(i)]);
    if (scaling.type == RopeScaling::Type::linear) frequency /= scaling.factor;
    table.inverse_frequencies.push_back(frequency);
  }
  if (scaling.type == RopeScaling::Type::yarn) apply_yarn(table, dims, base, scaling);
  table.magnitude = static_cast<float>(scaling.attention_factor * magnitude(scaling));
  const bool is_finite =
      std::ranges::all_of(table.inverse_frequencies, [](double f) { return std::isfinite(f); });
  if (!is_finite || !std::isfinite(table.magnitude)) {
    fail(ErrorCode::bad_input,
         "the rotation frequencies are not finite; check the rope.* keys and rope_freqs.weight");
  }
  return table;
}

}  // namespace arion
