// How long steps take, learnt from those that were run.
#pragma once
#include <array>
#include <cstdint>

#include "sequence/batch_plan.h"

namespace arion {

// What the time of a step depends on, besides reading the weights.
struct StepLoad {
  int tokens = 0;
  int64_t keys_read = 0;  // of the cache, once per sequence
  int64_t keys_seen = 0;  // by all tokens

  // A sequence goes on by `count` tokens behind `first` others.
  void add_run(int64_t first, int64_t count);
};

StepLoad load_of(const BatchPlan& plan);

// The time of a step as a sum of what each part of its load takes: recursive least squares
// (a Kalman filter whose state may drift; Simon 2006, "Optimal State Estimation", chapter 5), with
// limits to how far a step that was interrupted by other programs moves it. Used by one thread.
class StepCost {
 public:
  StepCost();

  // Loads are not empty, times are positive.
  void add(const StepLoad& load, double us);

  bool is_known() const { return most_tokens_ > 0; }
  // What such a step is expected to take.
  double us(const StepLoad& load) const;
  // The most that a step has had: for many more, nothing is known.
  int most_tokens() const { return most_tokens_; }

 private:
  static constexpr size_t kParts = 4;
  using Vector = std::array<double, kParts>;
  static Vector parts_of(const StepLoad& load);

  Vector us_{};                               // per unit of each part
  std::array<Vector, kParts> uncertainty_{};  // covariance of us_
  int most_tokens_ = 0;
};

}  // namespace arion
