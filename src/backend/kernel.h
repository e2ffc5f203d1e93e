// A kernel and the registry the planner picks from.
#pragma once
#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/limit_probes.h"
#include "op/kernel_args.h"

namespace arion {

// Everything a kernel may be chosen on. Never the number of rows: a choice by size could change
// bits between batches.
struct OpDesc {
  OpKind kind = OpKind::linear;
  ActivationForm form = ActivationForm::f32;  // of the input of linear kinds
  PanelSpec weights{};                        // linear kinds only
  DType kv = DType::f32;                      // attention, kv_write and linear_head only
};

// Memory that all workers of a step see, for kernels whose chunks finish one another's work.
struct SharedScratch {
  static constexpr int kCounters = 64;
  static constexpr size_t kBytes = size_t{4} << 20;
  struct alignas(64) Counter {
    std::atomic<int> arrived{0};
  };
  Counter counters[kCounters];          // all 0 between steps
  alignas(64) std::byte bytes[kBytes];  // contents undefined
};

// The worker running a chunk.
struct Worker {
  int index = 0, count = 1;      // one of so many that run the step; the same count for all chunks
  std::byte* scratch = nullptr;  // kScratchBytes, 64-byte aligned, contents undefined
  SharedScratch* shared = nullptr;  // of all these workers; null: no chunk leaves work to another
};

inline constexpr size_t kScratchBytes = size_t{1} << 20;

// Plain data; strings are literals. All functions are thread-safe and allocate nothing.
struct Kernel {
  const char* name = "";        // "linear.int8.c4.a.avx512"
  const char* arithmetic = "";  // equal for kernels that produce equal bits
  int rank = 0;                 // the highest supported rank wins
  bool (*supports)(const OpDesc& op) = nullptr;
  // Number of independent chunks for this step, about 10 us or more each; at least 1. Depends on
  // arguments and row counts only through speed: every partition gives the same bits.
  int (*chunks)(const void* args, const StepInput& input, int workers) = nullptr;
  void (*run)(const void* args, const StepInput& input, int chunk, int chunks,
              const Worker& worker) = nullptr;
};

// Filled once at start, then read-only and thread-safe.
class KernelRegistry {
 public:
  void add(const Kernel& kernel);
  const Kernel& best(const OpDesc& op) const;  // throws Error{usage} naming the operation
  std::vector<const Kernel*> all(const OpDesc& op) const;
  std::span<const Kernel> kernels() const { return kernels_; }

  void set_limit_probes(const LimitProbes& probes) { limit_probes_ = probes; }
  const LimitProbes& limit_probes() const { return limit_probes_; }

 private:
  std::vector<Kernel> kernels_;
  LimitProbes limit_probes_;
};

}  // namespace arion
