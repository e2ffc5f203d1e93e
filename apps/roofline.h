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

// Tokens per second of one sequence at the limits of this moment: of decoding at a depth, by the
// bytes that all steps read; of prefill, by the multiply-adds of the weights of all layers.
double decode_limit(const ExecutionPlan& plan, int depth, LimitMeter& meter);
double prefill_limit(const ExecutionPlan& plan, LimitMeter& meter);

// One step against the roofline.
struct StepCost : StepWork {
  double seconds = 0;  // the larger of both times
  bool is_compute_bound = false;
};

// Estimates steps; every peak is measured once.
class Roofline {
 public:
  // Rates given by the user, 0 = measure.
  Roofline(const KernelRegistry& kernels, WorkerPool& pool, double bandwidth, double peak);

  StepCost cost(const PlanStep& step, const PlanShape& shape, int depth);

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
