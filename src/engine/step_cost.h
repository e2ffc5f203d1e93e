// How long steps take, learnt from those that were run.
#pragma once
#include <array>

#include "sequence/batch_plan.h"

namespace arion {

// What the time of a step depends on: sequences that continue by a token, and tokens of prompts.
struct StepLoad {
  int decode_tokens = 0;
  int prompt_tokens = 0;
};

StepLoad load_of(const BatchPlan& plan);

// Decoding is bound by reading the weights, prompts by arithmetic: the first takes nearly the same
// time for one sequence as for several, the second adds up. Used by one thread.
class StepCost {
 public:
  void add(const StepLoad& load, double us);

  // Of a step of so many decoding sequences and nothing else; 0: not known yet.
  double decode_us(int tokens) const;
  // What one more token of a prompt adds to a step; 0: not known yet.
  double prompt_token_us() const;

 private:
  // Numbers of decoding sequences by powers of two: 1, 2, 3 to 4, 5 to 8, ...
  static constexpr size_t kSizes = 12;
  static size_t size_of(int tokens);
  void add_decode(int tokens, double us);

  std::array<double, kSizes> decode_us_ = {};  // 0: not known
  double prompt_us_ = 0, prompt_tokens_ = 0;   // decayed sums, beside decoding
  double alone_us_ = 0, alone_tokens_ = 0;     // the same of steps without decoding
};

}  // namespace arion
