// Biases and bans; penalties and DRY have files of their own.
#include "sample/logit_edits.h"

#include <algorithm>

namespace arion {
namespace {

void add_bias(RowEdits& row, std::span<const TokenBias> biases) {
  for (const TokenBias& b : biases) {
    if (!row.has(b.token)) continue;
    if (b.bias == -kInfinity) {
      row.forbid(b.token);
    } else {
      row.set(b.token, row.logit(b.token) + b.bias);
    }
  }
}

void forbid(RowEdits& row, TokenId token) {
  if (row.has(token)) row.forbid(token);
}

void forbid_bad_words(RowEdits& row, std::span<const std::vector<TokenId>> words,
                      std::span<const TokenId> tokens) {
  for (const std::vector<TokenId>& word : words) {
    const size_t before = word.size() - 1;
    if (before > tokens.size()) continue;
    const std::span<const TokenId> suffix = tokens.last(before);
    if (std::equal(suffix.begin(), suffix.end(), word.begin())) forbid(row, word.back());
  }
}

}  // namespace

void LogitEdits::apply(RowEdits& row, const SamplingParams& params, const History& history) {
  add_bias(row, params.logit_bias);
  penalties_.apply(row, params.penalties, history);
  dry_.apply(row, params.dry, history.tokens);
  forbid_bad_words(row, params.bad_words, history.tokens);
  for (const TokenId token : history.forbidden) forbid(row, token);
}

}  // namespace arion
