// Two log-softmaxes, then one pass.
#include "sample/guidance.h"

#include "base/check.h"
#include "base/real_math.h"
#include "sample/candidates.h"
#include "sample/param_range.h"
#include "sample/softmax.h"

namespace arion {
namespace {

// What log-softmax subtracts from a row.
float log_sum_exp(std::span<const float> logits) {
  ScannedRow row;
  row.scan(logits);
  const float peak = row.best().logit;
  return static_cast<float>(static_cast<double>(peak) + real::log(sum_exp(logits, peak, 1.0f)));
}

}  // namespace

void check_guidance_scale(float scale) {
  check_range("guidance_scale", scale, 0.0f, 100.0f);
}

void apply_guidance(std::span<float> logits, std::span<const float> negative, float scale) {
  CHECK(logits.size() == negative.size());
  const float log_p = log_sum_exp(logits), log_n = log_sum_exp(negative);
  for (size_t i = 0; i < logits.size(); ++i) {
    const float p = logits[i] - log_p, n = negative[i] - log_n;
    const bool is_allowed = p > -kInfinity && n > -kInfinity;
    logits[i] = is_allowed ? scale * (p - n) + n : -kInfinity;
  }
}

}  // namespace arion
