// The other side of a guided answer: a sequence of its own after the negative prompt, and the rows
// of logits of both sides until they are combined.
//
// Both sequences get the same answer. Their rows come in one step, except while prompts of
// different length are computed: then the row that comes first waits for the other.
#pragma once
#include <span>
#include <vector>

#include "sequence/sequence.h"

namespace arion {

// Used by one thread at a time. Must not move once its sequence is known to others.
class NegativePrompt {
 public:
  // `tokens` are the negative prompt and the last `resumed_tokens` of them output of an earlier
  // request.
  NegativePrompt(uint64_t request, std::vector<TokenId> tokens, int resumed_tokens, float scale);

  Sequence& sequence() { return sequence_; }
  const Sequence& sequence() const { return sequence_; }
  void append(TokenId token) { sequence_.tokens.push_back(token); }

  // The logits [vocab] after the last token of `side`: this sequence or the prompt's. Whether both
  // sides have theirs now; then `logits` must stay until they are combined.
  bool take(const Sequence& side, std::span<float> logits);
  // The guided row, in the place of one of the two. Throws Error{bad_input} for rows without a
  // usable maximum.
  std::span<float> combine();

 private:
  Sequence sequence_;
  float scale_;
  std::vector<float> first_;            // the row that waits, a copy
  const Sequence* first_of_ = nullptr;  // whose it is; null: no row waits
  std::span<float> second_;
};

}  // namespace arion
