// One pool of threads that run the same function side by side (SPMD).
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/spin_word.h"

namespace arion {

// A barrier for threads that are all running. Reusable; outlives every wait().
class SpinBarrier {
 public:
  explicit SpinBarrier(int count) : count_(count), generation_(count) {}
  void wait();

 private:
  const int count_;
  alignas(64) std::atomic<int> arrived_{0};
  SpinWord generation_;
};

// The caller of run() is worker 0; the others park between runs. One run at a time.
class WorkerPool {
 public:
  // Throws Error when the system does not let it start so many threads (at least 1).
  explicit WorkerPool(int workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int size() const { return size_; }

  // Calls function(worker) on every worker and returns when all are done. `function` must not
  // throw. Every worker computes with round to nearest and without flushing denormals (N8).
  template <typename Function>
  void run(const Function& function) {
    run_erased(
        [](const void* context, int worker) { (*static_cast<const Function*>(context))(worker); },
        &function);
  }

  // Calls function(i) for i in [0, count), each once, on any worker.
  template <typename Function>
  void for_each(int count, const Function& function) {
    std::atomic<int> next{0};
    run([&](int) {
      for (int i = next.fetch_add(1); i < count; i = next.fetch_add(1)) function(i);
    });
  }

 private:
  using Job = void (*)(const void* context, int worker);
  void run_erased(Job job, const void* context);
  void work(int worker);
  void leave_shared_cpu(int worker);
  void stop();

  int size_;
  Job job_ = nullptr;
  const void* context_ = nullptr;
  std::atomic<bool> is_stopping_{false};
  alignas(64) std::atomic<uint32_t> epoch_{0};
  alignas(64) std::atomic<int> running_{0};
  std::vector<std::atomic<int>> cpus_;  // by worker, as of the start of its last run
  SpinWord finished_;  // epoch of the last run that all workers but the caller have left
  std::vector<std::thread> threads_;
};

}  // namespace arion
