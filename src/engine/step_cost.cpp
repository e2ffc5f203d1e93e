#include "engine/step_cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace arion {
namespace {

// Shares of the expected time: how exactly times are measured, and how much what a part takes may
// change from one step to the next.
constexpr double kNoise = 0.1, kDrift = 0.02, kLeastDrift = 0.001;
constexpr double kMostDeviations = 3;   // that one step counts
constexpr double kNothingKnown = 1e12;  // us^2

double product(const auto& a, const auto& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

void StepLoad::add_run(int64_t first, int64_t count) {
  tokens += static_cast<int>(count);
  keys_read += first + count;
  keys_seen += count * first + count * (count + 1) / 2;
}

StepLoad load_of(const BatchPlan& plan) {
  StepLoad load;
  for (const Run& run : plan.runs) load.add_run(run.first, run.count);
  return load;
}

StepCost::StepCost() {
  for (size_t i = 0; i < kParts; ++i) uncertainty_[i][i] = kNothingKnown;
}

// In units of one size for usual steps: what is not known yet is shared out evenly among them.
StepCost::Vector StepCost::parts_of(const StepLoad& load) {
  return {1, load.tokens / 16.0, static_cast<double>(load.keys_read) / 8192,
          static_cast<double>(load.keys_seen) / 65536};
}

double StepCost::us(const StepLoad& load) const {
  return product(us_, parts_of(load));
}

void StepCost::add(const StepLoad& load, double us) {
  const Vector parts = parts_of(load);
  const double expected = product(us_, parts);
  const double scale = is_known() ? expected : us;
  for (size_t i = 0; i < kParts; ++i) {
    const double drift = kDrift * us_[i], least = kLeastDrift * scale;
    uncertainty_[i][i] =
        std::min(uncertainty_[i][i] + drift * drift + least * least, kNothingKnown);
  }
  Vector spread;
  for (size_t i = 0; i < kParts; ++i) spread[i] = product(uncertainty_[i], parts);
  const double variance = product(spread, parts) + kNoise * kNoise * scale * scale;
  const double most = kMostDeviations * std::sqrt(variance);
  const double error = std::clamp(us - expected, -most, most);
  for (size_t i = 0; i < kParts; ++i) {
    us_[i] = std::max(us_[i] + spread[i] / variance * error, 0.0);
    for (size_t j = 0; j < kParts; ++j) uncertainty_[i][j] -= spread[i] * spread[j] / variance;
  }
  most_tokens_ = std::max(most_tokens_, load.tokens);
}

}  // namespace arion
