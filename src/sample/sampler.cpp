// Peak, stages, draw and log probabilities in order; greedy answers skip the middle.
#include "sample/sampler.h"

#include <sys/random.h>

#include "base/error.h"
#include "sample/check_params.h"

namespace arion {

Sample Sampler::sample(std::span<const float> logits, const SamplingParams& params,
                       const SampleKey& key) {
  const Peak peak = find_peak(logits);
  Sample result;
  if (is_greedy(params)) {
    result.token = peak.id;
  } else {
    apply_stages(logits, peak, params, survivors_);
    result.token = survivors_.is_everything
                       ? gumbel_argmax(logits, peak, params.temperature, key)
                       : gumbel_argmax(survivors_.kept, params.temperature, key);
  }
  if (params.logprobs >= 0) {
    result.logprobs = compute_logprobs(logits, peak, survivors_, params, result.token);
  }
  return result;
}

uint64_t resolve_seed(const SamplingParams& params) {
  if (params.seed) return *params.seed;
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
    fail(ErrorCode::failed, "the system gave no random seed; set one with --seed");
  }
  return seed;
}

}  // namespace arion
