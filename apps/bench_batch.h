// Sequences of equal length that grow together, for measurements of single steps.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/graph_runner.h"
#include "runtime/sequence_stepper.h"

namespace arion::app {

// Tokens are well-spread ids and nothing is sampled: what is measured is the model, and its speed
// does not depend on which tokens they are. Not thread-safe.
class BenchBatch {
 public:
  // `runner` has KV for so many sequences.
  BenchBatch(GraphRunner& runner, int sequences);

  // Prefills `count` tokens of one sequence after the other, in steps as large as allowed; only the
  // last row of a sequence computes logits.
  void prefill(int count);
  // `count` steps of one token of every sequence, each with its logits.
  void decode(int count);

 private:
  TokenId next_token();

  GraphRunner& runner_;
  std::vector<SequenceStepper> sequences_;
  uint64_t random_ = 1;
};

}  // namespace arion::app
