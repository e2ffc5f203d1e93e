// Runs a plan on a worker pool: every worker walks the same steps and claims their chunks.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/worker_pool.h"
#include "graph/plan.h"
#include "graph/step_times.h"
#include "tensor/memory.h"

namespace arion {

// Called by one thread before a step runs; what the steps before it computed is in the arena.
using StepObserver = std::function<void(const PlanStep& step, int index, const StepInput& input)>;

// Used by one thread at a time. Allocates nothing while it runs.
class Executor {
 public:
  Executor(WorkerPool& pool, size_t max_steps);

  // Computes one step: the logits lie at plan.logits afterwards. Results depend neither on the
  // number of workers nor on which worker claims what.
  void run(const ExecutionPlan& plan, const StepInput& input);

  // Same, with every step alone: values that a step reads can be looked at before it.
  void run_observed(const ExecutionPlan& plan, const StepInput& input,
                    const StepObserver& observer);

  // From now on run() adds to `times`, which has a part for every worker and step; null: no more.
  void set_times(StepTimes* times) { times_ = times; }

  // Makes workers wait for a random time before every chunk, so that a missing barrier shows.
  void set_delays(std::optional<uint64_t> seed) { delay_seed_ = seed; }

 private:
  struct alignas(64) Counter {
    std::atomic<int> next{0};
  };

  void prepare(const ExecutionPlan& plan, const StepInput& input);
  void run_step(const ExecutionPlan& plan, size_t index, const StepInput& input,
                const Worker& worker, uint64_t& random);
  Worker context(int worker) const;
  uint64_t first_random(int worker) const;

  WorkerPool& pool_;
  SpinBarrier barrier_;
  Memory scratch_;
  Memory shared_;                // one SharedScratch
  std::vector<Counter> claims_;  // by step; the next chunk nobody has claimed
  std::optional<uint64_t> delay_seed_;
  StepTimes* times_ = nullptr;
};

}  // namespace arion
