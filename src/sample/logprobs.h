// Log probabilities of a sampled token and its rivals.
#pragma once
#include <vector>

#include "sample/survivors.h"

namespace arion {

struct TokenLogprob {
  TokenId id = 0;
  float logprob = 0;  // <= 0; -infinity for tokens that are not allowed

  bool operator==(const TokenLogprob&) const = default;
};

struct TokenLogprobs {
  float chosen = 0;
  int rank = 0;                   // of the chosen token: 1 is the best
  std::vector<TokenLogprob> top;  // so many as asked for at most, in rank order
};

// Of the row at temperature 1, with the `count` best tokens.
TokenLogprobs model_logprobs(const ScannedRow& row, int count, TokenId chosen);

// Of the tokens left, at their temperature.
TokenLogprobs survivor_logprobs(Survivors& survivors, int count, TokenId chosen);

}  // namespace arion
