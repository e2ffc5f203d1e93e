// The change of logits, and the average.
#include "sample/adaptive_p.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "sample/param_range.h"

namespace arion {
namespace {

constexpr float kPeakLogit = 5.0f, kSharpness = 10.0f, kWidth = 0.3f;

float adapted_target(const AdaptiveParams& params, const SamplerState& state) {
  if (state.adaptive_weight <= 0) return params.target;
  const float average = state.adaptive_sum / state.adaptive_weight;
  return std::clamp(2 * params.target - average, 0.0f, 1.0f);
}

}  // namespace

void check_adaptive(const AdaptiveParams& params) {
  check_range("adaptive_decay", params.decay, 0.0f, 0.99f);
  if (params.target <= 1.0f) return;
  fail(ErrorCode::bad_input,
       "adaptive_target is {}, expected a number from 0 to 1, or below 0 for none", params.target);
}

void AdaptiveP::apply(Survivors& survivors, const AdaptiveParams& params,
                      const SamplerState& state) {
  const float target = adapted_target(params, state);
  const double mass = survivors.moments().mass;
  before_.clear();
  after_.clear();
  for (const Candidate& c : survivors.list()) {
    const auto p = static_cast<float>(static_cast<double>(survivors.weight(c.logit)) / mass);
    const float distance = std::abs(p - target) / kWidth;
    const float logit = kPeakLogit - kSharpness * distance * distance / (1 + distance);
    before_.push_back({c.id, p});
    after_.push_back({c.id, logit});
  }
  survivors.replace(after_);
  survivors.set_temperature(1);
}

void AdaptiveP::update(TokenId chosen, const AdaptiveParams& params, SamplerState& state) const {
  const auto found = std::find_if(before_.begin(), before_.end(),
                                  [&](const Probability& b) { return b.token == chosen; });
  CHECK(found != before_.end());
  state.adaptive_sum = found->p + params.decay * state.adaptive_sum;
  state.adaptive_weight = 1 + params.decay * state.adaptive_weight;
}

}  // namespace arion
