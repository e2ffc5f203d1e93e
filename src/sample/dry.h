// DRY ("don't repeat yourself"): a penalty on tokens that would go on with a repetition.
//
// Let n be the length of the longest suffix of the tokens that also occurs before, followed by
// token t, and that no breaker is part of. If n >= allowed_length, the logit of t falls by
//   multiplier * base^(n - allowed_length),
// at most by 10^6. Breakers themselves are never penalised. Only the last_n tokens are looked at.
// Source: p-e-w, github.com/oobabooga/text-generation-webui, pull request 5677, 2024.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "sample/history.h"
#include "sample/row_edits.h"

namespace arion {

// Tokens with one of these are breakers unless others are named.
inline constexpr std::array<std::string_view, 4> kDryBreakers = {"\n", ":", "\"", "*"};

// Throws Error{bad_input}: multiplier 0 to 100, base 1 to 100, allowed_length 1 or more.
void check_dry(const DryParams& params);

class Dry {
 public:
  // `params.breakers` ascending.
  void apply(RowEdits& row, const DryParams& params, std::span<const TokenId> tokens);

 private:
  struct Repeat {
    TokenId next;
    int length;
  };

  void find_repeats(std::span<const TokenId> tokens, int longest, int allowed);

  std::vector<int> matches_;
  std::vector<Repeat> repeats_;
};

}  // namespace arion
