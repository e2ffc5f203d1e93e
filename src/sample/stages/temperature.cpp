// Temperature, fixed or dynamic. Dynamic: between T - range and T + range (at least 0), nearer to
// the upper end the closer the entropy is to the largest possible one for so many tokens:
//   T_min + (T_max - T_min) * (H / ln n)^exponent,
// with H at temperature 1. Where that is below 1e-5, the best token alone is left.
// Source of dynamic temperature: kalomaze, "entropy sampling", 2023.
#include <algorithm>

#include "base/real_math.h"
#include "sample/check_params.h"
#include "sample/param_range.h"
#include "sample/stage.h"

namespace arion {
namespace {

constexpr float kMaxExponent = 100.0f;

void set_dynamic(Survivors& survivors, const SamplingParams& params) {
  const Moments moments = survivors.moments();
  if (moments.count < 2) return;
  const double low = std::max(0.0f, params.temperature - params.dynatemp_range);
  const double high = params.temperature + params.dynatemp_range;
  const double share = moments.entropy() / real::log(static_cast<double>(moments.count));
  const double power =
      share > 0 ? real::pow(share, static_cast<double>(params.dynatemp_exponent)) : 0.0;
  const auto temperature = static_cast<float>(low + (high - low) * power);
  if (temperature < kGreedyTemperature) {
    survivors.keep_first(1);
  } else {
    survivors.set_temperature(temperature);
  }
}

}  // namespace

const Stage& stage_temperature() {
  static const Stage stage = {
      .name = "temperature",
      .is_on =
          [](const SamplingParams& params) {
            return params.temperature != 1.0f || params.dynatemp_range > 0.0f;
          },
      .check =
          [](const SamplingParams& params) {
            check_range("temperature", params.temperature, 0.0f, kMaxTemperature);
            check_range("dynatemp_range", params.dynatemp_range, 0.0f, kMaxTemperature);
            check_range("dynatemp_exponent", params.dynatemp_exponent, 0.0f, kMaxExponent);
          },
      .apply =
          [](Survivors& survivors, const SamplingParams& params, const SampleKey&) {
            if (params.dynatemp_range > 0.0f) {
              set_dynamic(survivors, params);
            } else {
              survivors.set_temperature(params.temperature);
            }
          },
  };
  return stage;
}

}  // namespace arion
