#include "bench_batch.h"

#include <algorithm>

namespace arion::app {

BenchBatch::BenchBatch(GraphRunner& runner, int sequences) : runner_(runner) {
  sequences_.reserve(static_cast<size_t>(sequences));
  for (int i = 0; i < sequences; ++i) {
    sequences_.emplace_back(runner, std::vector<TokenId>(), LogitsRows::last);
  }
}

void BenchBatch::prefill(int count) {
  for (SequenceStepper& sequence : sequences_) {
    for (int i = 0; i < count; ++i) sequence.append(next_token());
    while (sequence.pending() > 0) {
      const int rows = std::min(sequence.pending(), runner_.max_step_tokens());
      runner_.run({.runs = {sequence.next(rows)}});
      sequence.commit(rows);
    }
  }
}

void BenchBatch::decode(int count) {
  for (int i = 0; i < count; ++i) {
    BatchPlan plan;
    for (SequenceStepper& sequence : sequences_) {
      sequence.append(next_token());
      plan.runs.push_back(sequence.next(1));
    }
    runner_.run(plan);
    for (SequenceStepper& sequence : sequences_) sequence.commit(1);
  }
}

// Constants of Knuth's MMIX generator; its upper bits are the good ones.
TokenId BenchBatch::next_token() {
  random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<TokenId>((random_ >> 33) % static_cast<uint64_t>(runner_.vocab_size()));
}

}  // namespace arion::app
