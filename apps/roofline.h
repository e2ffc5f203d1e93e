// What this machine can do at most: memory bandwidth and the speed of linear kernels on cached
// data.
#pragma once
#include <map>
#include <string>

#include "backend/kernel.h"
#include "base/worker_pool.h"
#include "graph/plan.h"

namespace arion::app {

// Bytes per second that all workers together read from memory. Takes about 0.1 s.
double measure_bandwidth(WorkerPool& pool);

// Multiply-adds per second of the kernel for `op`, a linear, while everything is in cache.
double measure_peak(const KernelRegistry& kernels, const OpDesc& op, WorkerPool& pool);

// One step of a plan against the roofline. Values in the arena are taken to be in cache.
struct StepCost {
  double bytes = 0;          // weights and KV, read once
  double multiply_adds = 0;  // of all rows
  double seconds = 0;        // the larger of both times
  bool is_compute_bound = false;
};

// Estimates steps; every peak is measured once.
class Roofline {
 public:
  // Rates given by the user, 0 = measure.
  Roofline(const KernelRegistry& kernels, WorkerPool& pool, double bandwidth, double peak);

  // `depth` tokens of the one sequence precede the step.
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
