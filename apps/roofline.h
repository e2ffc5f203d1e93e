// What this machine can do at most: memory bandwidth and the speed of linear kernels on cached
// data.
#pragma once
#include <map>
#include <string>

#include "backend/kernel.h"
#include "base/worker_pool.h"
#include "graph/plan.h"
#include "machine_limits.h"

namespace arion::app {

// Multiply-adds per second of the kernel for `op`, a linear, while everything is in cache.
double measure_peak(const KernelRegistry& kernels, const OpDesc& op, WorkerPool& pool);

// What one step of a plan reads and computes. Values in the arena are taken to be in cache.
struct StepWork {
  double bytes = 0;          // weights and KV, read once
  double multiply_adds = 0;  // of all rows
};

// `depth` tokens of the one sequence precede the step.
StepWork step_work(const PlanStep& step, const PlanShape& shape, int depth);

// The speed that the limits of this moment allow.
struct StepLimit {
  double tokens_per_s = 0;
  bool is_compute_bound = false;
};

// Of one token each of `batch` sequences at a depth: by the bytes that all steps read or, of
// several sequences, by the multiply-adds of all weights if these take longer.
StepLimit decode_limit(const ExecutionPlan& plan, int batch, int depth, LimitMeter& meter);
// By the multiply-adds of the weights of all layers.
StepLimit prefill_limit(const ExecutionPlan& plan, LimitMeter& meter);

// One step against the roofline.
struct PlanStepCost : StepWork {
  double seconds = 0;  // the larger of both times
  bool is_compute_bound = false;
};

// Estimates steps; every peak is measured once.
class Roofline {
 public:
  // Rates given by the user, 0 = measure.
  Roofline(const KernelRegistry& kernels, WorkerPool& pool, double bandwidth, double peak);

  PlanStepCost cost(const PlanStep& step, const PlanShape& shape, int depth);

  double bandwidth() const { return bandwidth_; }
  // By form and weights, "int8 c4/a", as measured so far.
  const std::map<std::string, double>& peaks() const { return peaks_; }

 private:
  double peak(const OpDesc& op);

  const KernelRegistry& kernels_;
  WorkerPool& pool_;
  double bandwidth_, given_peak_;
  std::map<std::string, double> peaks_;
};

}  // namespace arion::app
