// Threads that park between runs, and the barrier they meet at within one.
#include "base/worker_pool.h"

#include <sched.h>

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "base/numerics_mode.h"

namespace arion {

void SpinBarrier::wait() {
  const uint32_t generation = generation_.load();
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) == count_ - 1) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.set(generation + 1);
    return;
  }
  generation_.wait_while(generation);
}

WorkerPool::WorkerPool(int workers)
    : size_(std::max(1, workers)), cpus_(static_cast<size_t>(size_)), finished_(size_) {
  for (std::atomic<int>& cpu : cpus_) cpu.store(-1, std::memory_order_relaxed);
  try {
    threads_.reserve(static_cast<size_t>(size_ - 1));
    for (int worker = 1; worker < size_; ++worker) {
      threads_.emplace_back([this, worker] { work(worker); });
    }
  } catch (const std::exception&) {
    const size_t started = threads_.size() + 1;  // the caller is there anyway
    stop();
    fail(ErrorCode::failed, "could start only {} of {} threads; use a smaller -t", started, size_);
  }
}

WorkerPool::~WorkerPool() {
  stop();
}

void WorkerPool::stop() {
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
    leave_shared_cpu(worker);
    {
      const NumericsMode mode;
      job_(context_, worker);
    }
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) finished_.set(seen);
  }
}

// Where programs share the CPUs, the system likes to wake a thread on the CPU of the one that wakes
// it, and leaves the two there: they would take turns, and every barrier would be a switch.
void WorkerPool::leave_shared_cpu(int worker) {
  const auto self = static_cast<size_t>(worker);
  const int cpu = sched_getcpu();
  if (cpus_[self].load(std::memory_order_relaxed) != cpu) {
    cpus_[self].store(cpu, std::memory_order_relaxed);
  }
  const auto is_taken = [&](int other, size_t workers) {
    return std::any_of(cpus_.begin(), cpus_.begin() + static_cast<std::ptrdiff_t>(workers),
                       [&](const auto& c) { return c.load(std::memory_order_relaxed) == other; });
  };
  if (worker == 0 || !is_taken(cpu, self)) return;  // the first ones stay
  cpu_set_t allowed, target;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int other = 0; other < CPU_SETSIZE; ++other) {
    if (!CPU_ISSET(other, &allowed) || is_taken(other, cpus_.size())) continue;
    CPU_ZERO(&target);
    CPU_SET(other, &target);
    if (sched_setaffinity(0, sizeof target, &target) != 0) return;
    sched_setaffinity(0, sizeof allowed, &allowed);  // moved, but not bound
    cpus_[self].store(other, std::memory_order_relaxed);
    return;
  }
}

void WorkerPool::run_erased(Job job, const void* context) {
  job_ = job;
  context_ = context;
  const uint32_t before = finished_.load();
  if (size_ > 1) {
    leave_shared_cpu(0);
    running_.store(size_ - 1, std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_release);
    epoch_.notify_all();
  }
  {
    const NumericsMode mode;
    job(context, 0);
  }
  if (size_ > 1) finished_.wait_while(before);
}

}  // namespace arion
