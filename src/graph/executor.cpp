// The loop every worker runs, and the random delays that make missing barriers show.
#include "graph/executor.h"

#include <chrono>
#include <new>
#include <thread>

#include "base/check.h"

namespace arion {
namespace {

// xorshift64*; only the delays of a debug run depend on it.
uint64_t next_random(uint64_t& state) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545F4914F6CDD1Dull;
}

// Mostly a short wait, now and then one longer than a whole step. Sleeping gives the processor to
// the other workers, so that they get ahead even when there are fewer cores than workers.
void delay(uint64_t& state) {
  using Clock = std::chrono::steady_clock;
  const uint64_t random = next_random(state) >> 32;
  if (random % 8 == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(random / 8 % 200));
    return;
  }
  const auto end = Clock::now() + std::chrono::microseconds(random % 20);
  while (Clock::now() < end) {
  }
}

// Seconds from lap to lap, of one thread.
class LapClock {
 public:
  double lap() {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace

Executor::Executor(WorkerPool& pool, size_t max_steps)
    : pool_(pool),
      barrier_(pool.size()),
      scratch_(kScratchBytes * static_cast<size_t>(pool.size())),
      shared_(sizeof(SharedScratch)),
      claims_(max_steps) {
  new (shared_.data()) SharedScratch;
}

void Executor::run(const ExecutionPlan& plan, const StepInput& input) {
  LapClock whole;
  prepare(plan, input);
  pool_.run([&](int index) {
    const Worker worker = context(index);
    uint64_t random = first_random(index);
    StepTimes::Part* parts = times_ ? times_->parts[static_cast<size_t>(index)].data() : nullptr;
    LapClock clock;
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      if (plan.steps[s].has_barrier && pool_.size() > 1) barrier_.wait();
      if (parts) parts[s].waiting += clock.lap();
      run_step(plan, s, input, worker, random);
      if (parts) parts[s].computing += clock.lap();
    }
  });
  if (!times_) return;
  ++times_->runs;
  times_->seconds += whole.lap();
}

void Executor::run_observed(const ExecutionPlan& plan, const StepInput& input,
                            const StepObserver& observer) {
  prepare(plan, input);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    observer(plan.steps[s], static_cast<int>(s), input);
    pool_.run([&](int index) {
      uint64_t random = first_random(index);
      run_step(plan, s, input, context(index), random);
    });
  }
}

void Executor::prepare(const ExecutionPlan& plan, const StepInput& input) {
  CHECK(plan.steps.size() <= claims_.size());
  CHECK(input.all.count <= plan.shape.rows && input.output.count <= plan.shape.output_rows);
  // Worker w takes chunk w of a step without asking; the counter hands out the others.
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    claims_[s].next.store(pool_.size(), std::memory_order_relaxed);
  }
}

Worker Executor::context(int worker) const {
  return {.index = worker,
          .count = pool_.size(),
          .scratch = scratch_.data() + kScratchBytes * static_cast<size_t>(worker),
          .shared = std::launder(reinterpret_cast<SharedScratch*>(shared_.data()))};
}

uint64_t Executor::first_random(int worker) const {
  return delay_seed_.value_or(0) * 0x9E3779B97F4A7C15ull + static_cast<uint64_t>(worker) + 1;
}

void Executor::run_step(const ExecutionPlan& plan, size_t index, const StepInput& input,
                        const Worker& worker, uint64_t& random) {
  const PlanStep& step = plan.steps[index];
  if (step.rows == RowsKind::output && input.output.count == 0) return;
  const int sharers = step.is_replicated ? 1 : pool_.size();
  const int chunks = step.kernel->chunks(step.kernel_args, input, sharers);
  auto run_chunk = [&](int chunk) {
    if (delay_seed_) delay(random);
    step.kernel->run(step.kernel_args, input, chunk, chunks, worker);
  };
  if (step.is_replicated) {
    for (int chunk = 0; chunk < chunks; ++chunk) run_chunk(chunk);
    return;
  }
  for (int chunk = worker.index; chunk < chunks;
       chunk = claims_[index].next.fetch_add(1, std::memory_order_relaxed)) {
    run_chunk(chunk);
  }
}

}  // namespace arion
