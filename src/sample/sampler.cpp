// Edits, stages, draw and log probabilities in order; greedy answers skip the middle.
#include "sample/sampler.h"

#include <sys/random.h>

#include "base/error.h"
#include "sample/check_params.h"
#include "sample/mirostat.h"
#include "sample/presets.h"

namespace arion {

Sample Sampler::sample(std::span<float> logits, const SamplingParams& params, const SampleKey& key,
                       const History& history) {
  Sample result{.state = history.state ? *history.state : initial_state(params)};
  RowEdits edits(logits, undo_);
  edits_.apply(edits, params, history);
  row_.scan(logits);
  survivors_.start(row_);
  if (is_greedy(params)) {
    survivors_.keep_first(1);
    result.token = row_.best().id;
  } else {
    result.token = choose(params, key, result.state);
  }
  if (params.logprobs < 0) return result;
  if (params.logprobs_of == LogprobsOf::processed) {
    result.logprobs = survivor_logprobs(survivors_, params.logprobs, result.token);
    return result;
  }
  if (!edits.empty()) {
    edits.restore();
    row_.scan(logits);
  }
  result.logprobs = model_logprobs(row_, params.logprobs, result.token);
  return result;
}

TokenLogprobs Sampler::logprobs(std::span<const float> logits, int count, TokenId token) {
  row_.scan(logits);
  return model_logprobs(row_, count, token);
}

TokenId Sampler::choose(const SamplingParams& params, const SampleKey& key, SamplerState& state) {
  for_each_stage(params, [&](const Stage& stage) { stage.apply(survivors_, params, key); });
  if (params.mirostat.version != 0) {
    apply_mirostat(survivors_, params.mirostat, state);
    const TokenId token = draw(key);
    const float logit = row_.logits()[static_cast<size_t>(token)];
    update_mirostat(survivors_, params.mirostat, logit, state);
    return token;
  }
  if (params.adaptive.is_on()) {
    adaptive_.apply(survivors_, params.adaptive, state);
    const TokenId token = draw(key);
    adaptive_.update(token, params.adaptive, state);
    return token;
  }
  return draw(key);
}

TokenId Sampler::draw(const SampleKey& key) {
  const float temperature = survivors_.temperature();
  return survivors_.is_everything()
             ? gumbel_argmax(row_, temperature, key)
             : gumbel_argmax(survivors_.list(), survivors_.peak(), temperature, key);
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
