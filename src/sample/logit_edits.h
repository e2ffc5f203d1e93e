// Everything that changes single logits before the choice is narrowed.
#pragma once
#include "sample/dry.h"
#include "sample/penalties.h"

namespace arion {

// In this order: logit_bias, penalties, DRY, bad words, history.forbidden. A token of bad words is
// forbidden when all tokens before it in its sequence are the last ones of the history. Tokens
// outside the row are ignored.
class LogitEdits {
 public:
  void apply(RowEdits& row, const SamplingParams& params, const History& history);

 private:
  Penalties penalties_;
  Dry dry_;
};

}  // namespace arion
