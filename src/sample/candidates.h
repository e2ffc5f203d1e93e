// Finding the large logits of a row without sorting it.
#pragma once
#include <span>
#include <vector>

#include "sequence/sequence.h"

namespace arion {

struct Candidate {
  TokenId id = 0;
  float logit = 0;

  bool operator==(const Candidate&) const = default;
};

// The order of every stage: larger logit first, ties to the lower id. Total, as ids differ.
inline bool ranks_before(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

// Largest logit of a row and the lowest id that has it.
struct Peak {
  TokenId id = 0;
  float logit = 0;
};

// Throws Error{bad_input} if a logit is NaN or +infinity, or if all are -infinity (= not allowed).
Peak find_peak(std::span<const float> logits);

// The min(k, n) first candidates of the row, in order. One pass when k is far below n.
void select_top(std::span<const float> logits, int k, std::vector<Candidate>& out);

// All candidates with logit >= threshold, by ascending id.
void select_at_least(std::span<const float> logits, float threshold, std::vector<Candidate>& out);

}  // namespace arion
