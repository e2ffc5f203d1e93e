// Runs a plan on a worker pool: every worker walks the same steps and claims their chunks.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/worker_pool.h"
#include "graph/plan.h"
#include "tensor/memory.h"

namespace arion {

// Used by one thread at a time. Allocates nothing while it runs.
class Executor {
 public:
  Executor(WorkerPool& pool, size_t max_steps);

  // Computes one step: the logits lie at plan.logits afterwards. Results depend neither on the
  // number of workers nor on which worker claims what.
  void run(const ExecutionPlan& plan, const StepInput& input);

  // Makes workers wait for a random time before every chunk, so that a missing barrier shows.
  void set_delays(std::optional<uint64_t> seed) { delay_seed_ = seed; }

 private:
  struct alignas(64) Counter {
    std::atomic<int> next{0};
  };

  void work(const ExecutionPlan& plan, const StepInput& input, int worker);

  WorkerPool& pool_;
  SpinBarrier barrier_;
  Memory scratch_;
  std::vector<Counter> claims_;  // by step; the next chunk nobody has claimed
  std::optional<uint64_t> delay_seed_;
};

}  // namespace arion
