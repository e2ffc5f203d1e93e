// Refuses parameters outside their ranges with a message that names the range.
#include "sample/check_params.h"

#include <algorithm>

#include "sample/adaptive_p.h"
#include "sample/candidates.h"
#include "sample/dry.h"
#include "sample/mirostat.h"
#include "sample/param_range.h"
#include "sample/penalties.h"
#include "sample/presets.h"

namespace arion {
namespace {

void check_token(std::string_view name, TokenId token, int vocab) {
  if (token >= 0 && token < vocab) return;
  fail(ErrorCode::bad_input, "{} names token {}, expected 0 to {}", name, token, vocab - 1);
}

void check_biases(const SamplingParams& params, int vocab) {
  for (const TokenBias& b : params.logit_bias) {
    check_token("logit_bias", b.token, vocab);
    if (b.bias == -kInfinity) continue;
    check_range("logit_bias", b.bias, -kMaxLogitBias, kMaxLogitBias);
  }
}

void check_bad_words(const SamplingParams& params, int vocab) {
  for (const std::vector<TokenId>& word : params.bad_words) {
    if (word.empty()) {
      fail(ErrorCode::bad_input, "bad_words has a sequence of no tokens, expected at least one");
    }
    for (const TokenId token : word) check_token("bad_words", token, vocab);
  }
}

void check_breakers(const DryParams& dry, int vocab) {
  for (const TokenId token : dry.breakers) check_token("dry_breakers", token, vocab);
  if (std::is_sorted(dry.breakers.begin(), dry.breakers.end())) return;
  fail(ErrorCode::bad_input, "dry_breakers are not ascending");
}

}  // namespace

void check_params(const SamplingParams& params, int vocab) {
  for (const Stage* stage : all_stages()) stage->check(params);
  check_range("logprobs", params.logprobs, -1, kMaxLogprobs);
  check_penalties(params.penalties);
  check_dry(params.dry);
  check_mirostat(params.mirostat);
  check_adaptive(params.adaptive);
  check_biases(params, vocab);
  check_bad_words(params, vocab);
  check_breakers(params.dry, vocab);
  check_order(params);
  if (params.mirostat.version != 0 && params.adaptive.is_on()) {
    fail(ErrorCode::bad_input,
         "mirostat and adaptive_target are both on, expected one of them: each chooses the token");
  }
}

bool is_greedy(const SamplingParams& params) {
  return params.temperature + params.dynatemp_range < kGreedyTemperature;
}

}  // namespace arion
