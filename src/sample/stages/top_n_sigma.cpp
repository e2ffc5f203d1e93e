// Top-n-sigma: tokens whose logit is at most n standard deviations below the largest. The deviation
// is that of the logits of all tokens left (population, forbidden ones not counted).
// Source: Tang et al., "Top-n-sigma: not all logits are you need", 2024.
#include <algorithm>
#include <array>
#include <cmath>

#include "sample/param_range.h"
#include "sample/stage.h"

namespace arion {
namespace {

constexpr float kMaxSigmas = 1000.0f;

struct Sums {
  double count = 0, sum = 0, squares = 0;  // of logit - peak

  double deviation() const {
    const double mean = sum / count;
    return std::sqrt(std::max(0.0, squares / count - mean * mean));
  }
};

// Eight lanes by ascending id, then folded by halves.
Sums sums_of_row(std::span<const float> logits, float peak) {
  constexpr size_t kLanes = 8;
  std::array<double, kLanes> count{}, sum{}, squares{};
  const auto add = [&](size_t lane, float logit) {
    const bool is_allowed = logit >= kLowest;
    const double d = static_cast<double>(is_allowed ? logit : peak) - static_cast<double>(peak);
    count[lane] += is_allowed ? 1.0 : 0.0;
    sum[lane] += d;
    squares[lane] += d * d;
  };
  size_t id = 0;
  for (; id + kLanes <= logits.size(); id += kLanes) {
    for (size_t i = 0; i < kLanes; ++i) add(i, logits[id + i]);
  }
  for (size_t i = 0; id + i < logits.size(); ++i) add(i, logits[id + i]);
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) {
      count[i] += count[i + half];
      sum[i] += sum[i + half];
      squares[i] += squares[i + half];
    }
  }
  return {count[0], sum[0], squares[0]};
}

Sums sums_of_list(std::span<const Candidate> list, float peak) {
  Sums sums{.count = static_cast<double>(list.size())};
  for (const Candidate& c : list) {
    const double d = static_cast<double>(c.logit) - static_cast<double>(peak);
    sums.sum += d;
    sums.squares += d * d;
  }
  return sums;
}

}  // namespace

const Stage& stage_top_n_sigma() {
  static const Stage stage = {
      .name = "top_n_sigma",
      .is_on = [](const SamplingParams& params) { return params.top_n_sigma > 0.0f; },
      .check =
          [](const SamplingParams& params) {
            check_range("top_n_sigma", params.top_n_sigma, 0.0f, kMaxSigmas);
          },
      .apply =
          [](Survivors& survivors, const SamplingParams& params, const SampleKey&) {
            const float peak = survivors.peak();
            const Sums sums = survivors.is_everything()
                                  ? sums_of_row(survivors.row().logits(), peak)
                                  : sums_of_list(survivors.list(), peak);
            survivors.keep_at_least(
                static_cast<float>(static_cast<double>(peak) -
                                   static_cast<double>(params.top_n_sigma) * sums.deviation()));
          },
  };
  return stage;
}

}  // namespace arion
