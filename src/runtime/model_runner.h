// Runs steps of a loaded model. The engine is written against this interface.
#pragma once
#include <cstddef>
#include <span>

#include "base/worker_pool.h"
#include "cache/kv_group.h"
#include "cache/kv_pool.h"
#include "sequence/batch_plan.h"

namespace arion {

// Logits [rows, vocab] of a step: for each run in order its logit rows, by ascending position.
// Valid until the next step; whoever got them may change them.
struct StepResult {
  float* logits = nullptr;
  size_t stride = 0;  // floats between rows
  int rows = 0;

  float* row(int index) const { return logits + static_cast<size_t>(index) * stride; }
};

// Owns weights, KV storage and the pools that number its blocks. Used by one thread; construction
// may happen on another.
class ModelRunner {
 public:
  virtual ~ModelRunner() = default;

  virtual int vocab_size() const = 0;
  virtual int context_length() const = 0;  // tokens of one sequence
  virtual int max_step_tokens() const = 0;
  virtual int max_step_logit_rows() const = 0;
  virtual std::span<const KvGroupSpec> kv_groups() const = 0;
  virtual std::span<KvPool> pools() = 0;  // [groups]
  // Threads that are idle between steps and may do other work then; null: none.
  virtual WorkerPool* workers() { return nullptr; }

  // Does the plan's copies, then computes its runs. Block tables have room for every token of the
  // plan. Does not change the sequences: the scheduler commits.
  virtual StepResult run(const BatchPlan& plan) = 0;
};

}  // namespace arion
