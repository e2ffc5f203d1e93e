// Learns how long a step takes from the steps that were run.
#pragma once
#include "engine/scheduler.h"

namespace arion {

// Least squares of time over tokens, older steps weighing less. Used by one thread.
class StepCostFit {
 public:
  void add(int tokens, double us);
  StepCost cost() const;

 private:
  double weight_ = 0, x_ = 0, y_ = 0, xx_ = 0, xy_ = 0;  // decayed sums
};

}  // namespace arion
