// Top-k, top-p and min-p on few sorted candidates; a histogram says how many top-p needs.
#include "sample/stages.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/real_math.h"
#include "sample/softmax.h"

namespace arion {
namespace {

// Mass per interval of logits: intervals of 1/64 below the peak, as far as e^-32.
constexpr float kBinsPerUnit = 64;
constexpr size_t kBins = 2048;

// Smallest float that min-p keeps.
float min_p_threshold(float peak, float min_p) {
  const double exact = static_cast<double>(peak) + real::log(static_cast<double>(min_p));
  const float rounded = static_cast<float>(exact);
  return static_cast<double>(rounded) < exact
             ? std::nextafter(rounded, std::numeric_limits<float>::infinity())
             : rounded;
}

// Length of the shortest prefix of `sorted` with at least `mass`; 0 if all of it has less.
size_t prefix_with_mass(std::span<const Candidate> sorted, float peak, double mass) {
  double sum = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    sum += static_cast<double>(exp_nonpositive(sorted[i].logit - peak));
    if (sum >= mass) return i + 1;
  }
  return 0;
}

double sum_sorted(std::span<const Candidate> sorted, float peak) {
  double sum = 0;
  for (const Candidate& c : sorted) sum += static_cast<double>(exp_nonpositive(c.logit - peak));
  return sum;
}

// Cuts `sorted` to the tokens at or above the threshold.
void cut_below(std::vector<Candidate>& sorted, float threshold) {
  const auto below = std::partition_point(sorted.begin(), sorted.end(),
                                          [&](const Candidate& c) { return c.logit >= threshold; });
  sorted.erase(below, sorted.end());
}

// A logit above which there is `mass`, from a histogram; -infinity if that would be deep in the
// tail. Rounding may put slightly less mass above it, which the caller must expect.
float threshold_of_mass(std::span<const float> logits, float peak, std::span<const float> summands,
                        double mass) {
  std::array<double, kBins> bins{};
  for (size_t i = 0; i < logits.size(); ++i) {
    const float below_peak = (peak - logits[i]) * kBinsPerUnit;
    if (below_peak < static_cast<float>(kBins)) {
      bins[static_cast<size_t>(below_peak)] += static_cast<double>(summands[i]);
    }
  }
  double sum = 0;
  for (size_t i = 0; i < kBins; ++i) {
    sum += bins[i];
    if (sum >= mass) return peak - static_cast<float>(i + 1) / kBinsPerUnit;
  }
  return -std::numeric_limits<float>::infinity();
}

// The prefix of the whole row that holds top_p of its mass, among logits >= threshold.
void select_mass(std::span<const float> logits, float peak, double top_p, float threshold,
                 Survivors& out) {
  const double mass = top_p * sum_exp(logits, peak, out.summands);
  float from = std::max(threshold, threshold_of_mass(logits, peak, out.summands, mass));
  for (;;) {
    select_at_least(logits, from, out.kept);
    std::sort(out.kept.begin(), out.kept.end(), ranks_before);
    if (const size_t kept = prefix_with_mass(out.kept, peak, mass)) return out.kept.resize(kept);
    if (from <= threshold) return;  // everything above the threshold holds less
    from = threshold;
  }
}

}  // namespace

void apply_stages(std::span<const float> logits, const Peak& peak, const SamplingParams& params,
                  Survivors& out) {
  const bool has_top_k = params.top_k > 0 && static_cast<size_t>(params.top_k) < logits.size();
  const bool has_top_p = params.top_p < 1.0f;
  const bool has_min_p = params.min_p > 0.0f;
  out.kept.clear();
  out.is_everything = !has_top_k && !has_top_p && !has_min_p;
  if (out.is_everything) return;

  const float threshold = has_min_p ? min_p_threshold(peak.logit, params.min_p)
                                    : -std::numeric_limits<float>::infinity();
  const auto top_p = static_cast<double>(params.top_p);
  if (has_top_k) {
    select_top(logits, params.top_k, out.kept);
    if (has_top_p) {
      const double mass = top_p * sum_sorted(out.kept, peak.logit);
      if (const size_t kept = prefix_with_mass(out.kept, peak.logit, mass)) out.kept.resize(kept);
    }
    cut_below(out.kept, threshold);
    return;
  }
  if (!has_top_p) {
    select_at_least(logits, threshold, out.kept);
    return;
  }
  select_mass(logits, peak.logit, top_p, threshold, out);
}

}  // namespace arion
