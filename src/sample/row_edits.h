// Changes to single logits of a row that are taken back in the end, so that rows need no copy.
#pragma once
#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "sample/candidates.h"

namespace arion {

class RowEdits {
 public:
  // `undo` is memory to use. Both must outlive the edits.
  RowEdits(std::span<float> row, std::vector<Candidate>& undo) : row_(row), undo_(undo) {
    undo_.clear();
  }
  ~RowEdits() { restore(); }
  RowEdits(const RowEdits&) = delete;
  RowEdits& operator=(const RowEdits&) = delete;

  std::span<const float> row() const { return row_; }
  bool empty() const { return undo_.empty(); }
  bool has(TokenId token) const { return token >= 0 && static_cast<size_t>(token) < row_.size(); }
  float logit(TokenId token) const { return row_[static_cast<size_t>(token)]; }

  // Sums that overflow stay at the largest number; NaN stays, to be refused. -infinity stays too:
  // no change allows a token again.
  void set(TokenId token, float logit) {
    constexpr float kLargest = std::numeric_limits<float>::max();
    float& place = row_[static_cast<size_t>(token)];
    if (place == -kInfinity) return;
    undo_.push_back({token, place});
    place = std::clamp(logit, -kLargest, kLargest);
  }
  void forbid(TokenId token) {
    float& place = row_[static_cast<size_t>(token)];
    undo_.push_back({token, place});
    place = -kInfinity;
  }
  void restore() {
    for (; !undo_.empty(); undo_.pop_back()) {
      row_[static_cast<size_t>(undo_.back().id)] = undo_.back().logit;
    }
  }

 private:
  std::span<float> row_;
  std::vector<Candidate>& undo_;
};

}  // namespace arion
