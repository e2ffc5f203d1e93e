// Repetition, presence and frequency penalties.
//
//   l = l > 0 ? l / repetition : l * repetition   once for each token among the last_n tokens
//   l = l - count * frequency - presence          with count: how often among the last_n tokens
//                                                 of the answer (counts_prompt: of all)
//
// Tokens outside the row are ignored. Sources: Keskar et al., "CTRL", 2019; the OpenAI API.
#pragma once
#include <vector>

#include "sample/history.h"
#include "sample/row_edits.h"

namespace arion {

// Throws Error{bad_input}: repetition 0.01 to 100, presence and frequency -100 to 100.
void check_penalties(const PenaltyParams& params);

class Penalties {
 public:
  void apply(RowEdits& row, const PenaltyParams& params, const History& history);

 private:
  void count(const RowEdits& row, std::span<const TokenId> tokens, unsigned amount);

  std::vector<unsigned> counts_;   // [vocab], 2 * count + 1 for tokens seen; 0 between calls
  std::vector<TokenId> distinct_;  // tokens with counts
};

}  // namespace arion
