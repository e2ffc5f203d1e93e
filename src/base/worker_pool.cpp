// Threads that park between runs, and the barrier they meet at within one.
#include "base/worker_pool.h"

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

WorkerPool::WorkerPool(int workers) : size_(std::max(1, workers)), finished_(size_) {
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
    {
      const NumericsMode mode;
      job_(context_, worker);
    }
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) finished_.set(seen);
  }
}

void WorkerPool::run_erased(Job job, const void* context) {
  job_ = job;
  context_ = context;
  const uint32_t before = finished_.load();
  if (size_ > 1) {
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
