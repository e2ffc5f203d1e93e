// A weighted straight line through (tokens, microseconds) of past steps.
#include "engine/step_cost_fit.h"

#include <algorithm>

namespace arion {
namespace {

// A step counts half as much after 35 more: a second of decoding or so.
constexpr double kDecay = 0.98;
// Smallest variance of the number of tokens that says anything about the slope.
constexpr double kLeastVariance = 1.0;

}  // namespace

void StepCostFit::add(int tokens, double us) {
  const double x = tokens;
  weight_ = weight_ * kDecay + 1;
  x_ = x_ * kDecay + x;
  y_ = y_ * kDecay + us;
  xx_ = xx_ * kDecay + x * x;
  xy_ = xy_ * kDecay + x * us;
}

StepCost StepCostFit::cost() const {
  if (weight_ == 0) return {};
  const double mean_x = x_ / weight_, mean_y = y_ / weight_;
  const double variance = xx_ / weight_ - mean_x * mean_x;
  // Steps of one size tell the cost of that size only; charge it all to the tokens.
  if (variance < kLeastVariance) return {.fixed_us = 0, .us_per_token = mean_y / mean_x};
  const double covariance = xy_ / weight_ - mean_x * mean_y;
  const double slope = std::clamp(covariance / variance, 0.0, mean_y / mean_x);
  return {.fixed_us = mean_y - slope * mean_x, .us_per_token = slope};
}

}  // namespace arion
