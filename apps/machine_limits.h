// What this machine does at most at the moment: reads from memory, multiply-adds, barriers.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/limit_probes.h"
#include "base/worker_pool.h"
#include "tensor/memory.h"

namespace arion::app {

enum class PageKind : uint8_t { small, huge };

// Short probes, to be run right before and after what they are compared with: other programs on the
// machine change its limits within seconds. Holds 256 MiB once it has read.
class LimitMeter {
 public:
  LimitMeter(const LimitProbes& probes, WorkerPool& pool, PageKind pages = PageKind::huge);

  // One burst of a few milliseconds on the first `threads` workers: bytes per second read, and
  // multiply-adds per second.
  double read_burst(int threads, int streams);
  double peak_burst(int threads, ActivationForm form);

  // Of all workers, the medians of bursts that take 50 ms or so together.
  double bandwidth();
  double peak(ActivationForm form);

 private:
  void touch_memory();

  const LimitProbes& probes_;
  WorkerPool& pool_;
  PageKind pages_;
  Memory memory_;
  std::array<int64_t, 3> rounds_{};  // of a burst by form, 0 = not known yet
};

struct Spread {
  double median = 0, p95 = 0;
};

struct MachineLimits {
  struct Read {
    int threads;
    PageKind pages;
    int streams;
    double bytes_per_s;
  };
  struct Peak {
    int threads;
    ActivationForm form;
    const char* instruction;
    double multiply_adds_per_s;
  };
  int threads = 1;
  int bursts = 0;
  std::vector<Read> reads;
  std::vector<Peak> peaks;
  // With more than one thread: of a barrier, and of starting all workers and waiting for them.
  Spread barrier_seconds, run_seconds;
};

// Medians of `bursts` bursts of everything, taken in turns.
MachineLimits measure_limits(const LimitProbes& probes, WorkerPool& pool, int bursts);

void print_limits(const MachineLimits& limits, const std::string& isa);
void print_limits_json(const MachineLimits& limits, const std::string& isa);

}  // namespace arion::app
