#include "base/worker_pool.h"

#include <sched.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <utility>

namespace arion {
namespace {

// About 50 us of spinning, well above the skew between chunks of one step.
constexpr int kSpins = 2000;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

template <typename Condition>
void spin_until(const Condition& condition) {
  for (int spins = 0; !condition(); ++spins) {
    if (spins < kSpins) {
      pause();
    } else {
      sched_yield();
    }
  }
}

// Restores the caller's floating-point mode when a run ends.
class NumericsMode {
 public:
#if defined(__x86_64__)
  NumericsMode() : saved_(_mm_getcsr()) {
    _mm_setcsr(0x1F80);
  }
  ~NumericsMode() {
    _mm_setcsr(saved_);
  }

 private:
  unsigned saved_;
#endif
};

// Cores whose hyper-threads are counted once; 0 if the system does not say.
int physical_cores() {
  std::set<std::pair<int, int>> cores;
  for (int cpu = 0;; ++cpu) {
    const std::string base = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    std::ifstream core_file(base + "core_id"), package_file(base + "physical_package_id");
    int core = 0, package = 0;
    if (!(core_file >> core) || !(package_file >> package)) break;
    cores.emplace(package, core);
  }
  return static_cast<int>(cores.size());
}

// Whole cores the cgroup may use; 0 if unlimited.
int cgroup_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || period <= 0) return 0;
  return std::max(1, static_cast<int>(quota / period));
}

}  // namespace

void SpinBarrier::wait() {
  const uint32_t generation = generation_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) == count_ - 1) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_release);
    return;
  }
  spin_until([&] { return generation_.load(std::memory_order_acquire) != generation; });
}

WorkerPool::WorkerPool(int workers) : size_(std::max(1, workers)) {
  for (int worker = 1; worker < size_; ++worker) {
    threads_.emplace_back([this, worker] { work(worker); });
  }
}

WorkerPool::~WorkerPool() {
  is_stopping_.store(true, std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::work(int worker) {
  uint32_t seen = 0;
  for (;;) {
    epoch_.wait(seen, std::memory_order_acquire);
    seen = epoch_.load(std::memory_order_acquire);
    if (is_stopping_.load(std::memory_order_relaxed)) return;
    {
      const NumericsMode mode;
      job_(context_, worker);
    }
    running_.fetch_sub(1, std::memory_order_release);
  }
}

void WorkerPool::run_erased(Job job, const void* context) {
  job_ = job;
  context_ = context;
  if (size_ > 1) {
    running_.store(size_ - 1, std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_release);
    epoch_.notify_all();
  }
  {
    const NumericsMode mode;
    job(context, 0);
  }
  spin_until([&] { return running_.load(std::memory_order_acquire) == 0; });
}

int default_worker_count() {
  cpu_set_t affinity;
  int count = static_cast<int>(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof affinity, &affinity) == 0) count = CPU_COUNT(&affinity);
  if (const int cores = physical_cores(); cores > 0) count = std::min(count, cores);
  if (const int quota = cgroup_quota(); quota > 0) count = std::min(count, quota);
  return std::max(1, count);
}

}  // namespace arion
