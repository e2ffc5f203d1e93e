// What one step computes.
#pragma once
#include <vector>

#include "sequence/sequence.h"

namespace arion {

// One sequence's share of a step: tokens [first, first + count) at those positions. Its block
// tables have room for them.
struct Run {
  Sequence* sequence = nullptr;
  int first = 0;  // == sequence->computed
  int count = 0;
  LogitsRows logits = LogitsRows::none;

  int logit_rows() const {
    switch (logits) {
      case LogitsRows::none:
        return 0;
      case LogitsRows::last:
        return 1;
      case LogitsRows::all:
        return count;
    }
    return 0;
  }
};

struct BatchPlan {
  std::vector<Run> runs;
  std::vector<BlockCopy> copies;

  bool empty() const { return runs.empty(); }
  int tokens() const {
    int sum = 0;
    for (const Run& run : runs) sum += run.count;
    return sum;
  }
  int logit_rows() const {
    int sum = 0;
    for (const Run& run : runs) sum += run.logit_rows();
    return sum;
  }
};

}  // namespace arion
