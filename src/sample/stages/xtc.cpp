// XTC (exclude top choices): with the given probability, if several tokens have p >= threshold, all
// of them but the least likely are removed.
// Source: p-e-w, github.com/oobabooga/text-generation-webui, pull request 6335, 2024.
#include <vector>

#include "sample/param_range.h"
#include "sample/stage.h"

namespace arion {
namespace {

constexpr float kLargestThreshold = 0.5f;  // above, at most one token can reach it

void remove_top_choices(Survivors& survivors, double threshold) {
  const double least = threshold * survivors.moments().mass;
  const std::span<const Candidate> sorted = survivors.sorted();
  size_t likely = 0;
  while (likely < sorted.size() &&
         static_cast<double>(survivors.weight(sorted[likely].logit)) >= least) {
    ++likely;
  }
  if (likely < 2) return;
  std::vector<Candidate> rest(sorted.begin() + static_cast<ptrdiff_t>(likely) - 1, sorted.end());
  survivors.replace(rest);
}

}  // namespace

const Stage& stage_xtc() {
  static const Stage stage = {
      .name = "xtc",
      .is_on =
          [](const SamplingParams& params) {
            return params.xtc.probability > 0.0f && params.xtc.threshold <= kLargestThreshold;
          },
      .check =
          [](const SamplingParams& params) {
            check_range("xtc_probability", params.xtc.probability, 0.0f, 1.0f);
            check_range("xtc_threshold", params.xtc.threshold, 0.0f, 1.0f);
          },
      .apply =
          [](Survivors& survivors, const SamplingParams& params, const SampleKey& key) {
            if (uniform(key, NoisePurpose::xtc) > static_cast<double>(params.xtc.probability)) {
              return;
            }
            remove_top_choices(survivors, static_cast<double>(params.xtc.threshold));
          },
  };
  return stage;
}

}  // namespace arion
