// Locally typical sampling: the smallest set with at least this probability of the tokens whose
// surprise -ln p is closest to the entropy; of equally close ones those first in rank order.
// Source: Meister et al., "Locally typical sampling", 2022.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/real_math.h"
#include "sample/mass_histogram.h"
#include "sample/stage.h"

namespace arion {
namespace {

struct Typical {
  Candidate candidate;
  float distance;  // of the surprise from the entropy

  bool operator<(const Typical& other) const {
    return distance < other.distance ||
           (distance == other.distance && ranks_before(candidate, other.candidate));
  }
};

// The tokens with distance <= bound, closest first.
void select_close(std::span<const Candidate> list, std::span<const float> distances, float bound,
                  std::vector<Typical>& out) {
  out.clear();
  for (size_t i = 0; i < list.size(); ++i) {
    if (distances[i] <= bound) out.push_back({list[i], distances[i]});
  }
  std::sort(out.begin(), out.end());
}

// Length of the shortest prefix with at least `mass`; 0 if all of it has less.
size_t prefix_with_mass(const Survivors& survivors, std::span<const Typical> sorted, double mass) {
  double sum = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    sum += static_cast<double>(survivors.weight(sorted[i].candidate.logit));
    if (sum >= mass) return i + 1;
  }
  return 0;
}

void keep_typical(Survivors& survivors, double share) {
  const Moments moments = survivors.moments();
  const double mass = share * moments.mass;
  // |-ln p - H| = |x + weighted / mass|, as the logarithm of the mass cancels.
  const auto shift = static_cast<float>(moments.weighted / moments.mass);
  const std::span<const Candidate> list = survivors.list();
  std::vector<float> distances(list.size());
  MassHistogram histogram;
  for (size_t i = 0; i < list.size(); ++i) {
    const float x = (list[i].logit - survivors.peak()) / survivors.temperature();
    distances[i] = std::abs(x - shift);
    histogram.add(distances[i], static_cast<double>(survivors.weight(list[i].logit)));
  }
  std::vector<Typical> typical;
  select_close(list, distances, histogram.bound(mass), typical);
  size_t kept = prefix_with_mass(survivors, typical, mass);
  if (kept == 0) {
    select_close(list, distances, kInfinity, typical);
    kept = prefix_with_mass(survivors, typical, mass);
  }
  if (kept > 0) typical.resize(kept);
  std::vector<Candidate> result;
  for (const Typical& t : typical) result.push_back(t.candidate);
  std::sort(result.begin(), result.end(), ranks_before);
  survivors.replace(result);
}

}  // namespace

const Stage& stage_typical_p() {
  static const Stage stage = {
      .name = "typical_p",
      .is_on = [](const SamplingParams& params) { return params.typical_p < 1.0f; },
      .check =
          [](const SamplingParams& params) {
            if (params.typical_p > 0.0f && params.typical_p <= 1.0f) return;
            fail(ErrorCode::bad_input, "typical_p is {}, expected a number above 0 up to 1",
                 params.typical_p);
          },
      .apply =
          [](Survivors& survivors, const SamplingParams& params, const SampleKey&) {
            keep_typical(survivors, static_cast<double>(params.typical_p));
          },
  };
  return stage;
}

}  // namespace arion
