// Chooses a token from a row of logits.
#pragma once
#include <optional>
#include <span>

#include "sample/gumbel.h"
#include "sample/logprobs.h"
#include "sample/stages.h"

namespace arion {

struct Sample {
  TokenId token = 0;
  std::optional<TokenLogprobs> logprobs;  // if the parameters ask for them
};

// A pure function with reusable memory: the result depends on the arguments alone. One per thread.
class Sampler {
 public:
  // `params` have passed check_params; `key.seed` is used, not params.seed. Throws Error{bad_input}
  // if the row has no usable maximum, see find_peak.
  Sample sample(std::span<const float> logits, const SamplingParams& params, const SampleKey& key);

 private:
  Survivors survivors_;
};

// The request's seed, or 64 bits from the operating system.
uint64_t resolve_seed(const SamplingParams& params);

}  // namespace arion
