// Counts in a table over the vocabulary, of which only the tokens of the history are touched.
#include "sample/penalties.h"

#include <algorithm>
#include <utility>

#include "sample/param_range.h"

namespace arion {
namespace {

constexpr unsigned kSeen = 1, kOnce = 2;

}  // namespace

void check_penalties(const PenaltyParams& params) {
  check_range("repetition_penalty", params.repetition, 0.01f, 100.0f);
  check_range("presence_penalty", params.presence, -100.0f, 100.0f);
  check_range("frequency_penalty", params.frequency, -100.0f, 100.0f);
  check_last_n("penalty_last_n", params.last_n);
}

void Penalties::count(const RowEdits& row, std::span<const TokenId> tokens, unsigned amount) {
  for (const TokenId token : tokens) {
    if (!row.has(token)) continue;
    unsigned& count = counts_[static_cast<size_t>(token)];
    if (count == 0) distinct_.push_back(token);
    count = amount == kSeen ? count | kSeen : count + amount;
  }
}

void Penalties::apply(RowEdits& row, const PenaltyParams& params, const History& history) {
  const bool repeats = params.repetition != 1.0f;
  const bool counts = params.presence != 0.0f || params.frequency != 0.0f;
  if (!repeats && !counts) return;
  if (counts_.size() < row.row().size()) counts_.resize(row.row().size());
  distinct_.clear();
  const std::span<const TokenId> all = last_tokens(history.tokens, params.last_n);
  const std::span<const TokenId> answer =
      history.tokens.subspan(std::min(history.prompt_tokens, history.tokens.size()));
  if (repeats) count(row, all, kSeen);
  if (counts) count(row, params.counts_prompt ? all : last_tokens(answer, params.last_n), kOnce);
  for (const TokenId token : distinct_) {
    const unsigned found = std::exchange(counts_[static_cast<size_t>(token)], 0);
    float logit = row.logit(token);
    if ((found & kSeen) != 0) {
      logit = logit > 0 ? logit / params.repetition : logit * params.repetition;
    }
    if (found >= kOnce) {
      const float times = static_cast<float>(found / kOnce);
      logit -= times * params.frequency + params.presence;
    }
    row.set(token, logit);
  }
}

}  // namespace arion
