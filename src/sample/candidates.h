// Finding the large logits of a row without sorting it.
#pragma once
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "sequence/sequence.h"

namespace arion {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kLowest =
    std::numeric_limits<float>::lowest();  // of logits that are allowed

struct Candidate {
  TokenId id = 0;
  float logit = 0;

  bool operator==(const Candidate&) const = default;
};

// The order of every stage: larger logit first, ties to the lower id. Total, as ids differ.
inline bool ranks_before(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

// A row that was read once: later searches skip the blocks whose largest logit is too small.
// -infinity means that a token is not allowed.
class ScannedRow {
 public:
  static constexpr size_t kBlock = 256;  // tokens

  // Keeps `logits`, which must stay as they are. Reuses memory. Throws Error{bad_input} if the row
  // is empty, a logit is NaN or +infinity, or all are -infinity.
  void scan(std::span<const float> logits);

  std::span<const float> logits() const { return logits_; }
  const Candidate& best() const { return best_; }                  // first of all in rank
  std::span<const float> block_maxima() const { return maxima_; }  // [ceil(size / kBlock)]

  // A logit that at least k of the row reach, or the lowest of all numbers. Used by one thread.
  float reached_by(size_t k) const;

 private:
  std::span<const float> logits_;
  std::vector<float> maxima_;
  mutable std::vector<float> scratch_;  // of reached_by
  Candidate best_;
};

// The min(k, n) first allowed candidates of the row, in order.
void select_top(const ScannedRow& row, size_t k, std::vector<Candidate>& out);

// The place of a token in the order of its row: 0 is the best.
size_t count_before(const ScannedRow& row, TokenId id);

// All allowed candidates with logit >= threshold, by ascending id.
void select_at_least(const ScannedRow& row, float threshold, std::vector<Candidate>& out);

}  // namespace arion
