// Chooses a token from a row of logits.
#pragma once
#include <optional>
#include <span>

#include "sample/adaptive_p.h"
#include "sample/gumbel.h"
#include "sample/logit_edits.h"
#include "sample/logprobs.h"

namespace arion {

struct Sample {
  TokenId token = 0;
  std::optional<TokenLogprobs> logprobs;  // if the parameters ask for them
  SamplerState state;                     // for the next token
};

// A pure function with reusable memory: the result depends on the arguments alone. One per thread.
class Sampler {
 public:
  // `params` have passed check_params; `key.seed` is used, not params.seed. The logits [vocab] are
  // as they were when this returns or throws; -infinity means that a token is not allowed. Throws
  // Error{bad_input} if a logit is NaN or +infinity, or if no token is allowed.
  Sample sample(std::span<float> logits, const SamplingParams& params, const SampleKey& key,
                const History& history = {});
  // Of a token that was not chosen here, with its `count` best rivals. Throws as above.
  TokenLogprobs logprobs(std::span<const float> logits, int count, TokenId token);

 private:
  TokenId choose(const SamplingParams& params, const SampleKey& key, SamplerState& state);
  TokenId draw(const SampleKey& key);

  LogitEdits edits_;
  std::vector<Candidate> undo_;
  ScannedRow row_;
  Survivors survivors_;
  AdaptiveP adaptive_;
};

// The request's seed, or 64 bits from the operating system.
uint64_t resolve_seed(const SamplingParams& params);

}  // namespace arion
