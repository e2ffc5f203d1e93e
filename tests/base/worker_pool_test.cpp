// Runs, barriers and ends of the pool, with fewer and with many more threads than CPUs.
#include "base/worker_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/odd_numerics.h"

namespace arion {
namespace {

TEST(WorkerPool, CallsEveryWorkerOnceOnItsOwnThread) {
  WorkerPool pool(4);
  EXPECT_EQ(pool.size(), 4);
  std::vector<std::thread::id> threads(4);
  std::vector<int> calls(4);
  pool.run([&](int worker) {
    threads[static_cast<size_t>(worker)] = std::this_thread::get_id();
    ++calls[static_cast<size_t>(worker)];
  });
  EXPECT_EQ(calls, std::vector<int>(4, 1));
  EXPECT_EQ(threads[0], std::this_thread::get_id());
  EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), 4u);
}

TEST(WorkerPool, OfOneThreadOrLessIsTheCallerAlone) {
  for (const int workers : {1, 0, -3}) {
    WorkerPool pool(workers);
    EXPECT_EQ(pool.size(), 1);
    SpinBarrier barrier(1);
    int calls = 0;
    pool.run([&](int worker) {
      EXPECT_EQ(worker, 0);
      EXPECT_EQ(++calls, 1);
      barrier.wait();
      barrier.wait();
    });
    EXPECT_EQ(calls, 1);
  }
}

TEST(WorkerPool, SeesWhatTheCallerWroteAndTheReverseInEveryRun) {
  WorkerPool pool(3);
  std::vector<int> values(3);  // not atomic: run() itself must order the accesses
  for (int round = 0; round < 2'000; ++round) {
    const int before = round;
    pool.run([&](int worker) {
      int& value = values[static_cast<size_t>(worker)];
      if (value == before) value = before + 1;
    });
    ASSERT_EQ(values, std::vector<int>(3, round + 1));
  }
}

TEST(WorkerPool, ForEachVisitsEveryIndexOnce) {
  WorkerPool pool(3);
  for (const int count : {0, 1, 2, 1'000}) {
    std::vector<int> visits(static_cast<size_t>(count));
    pool.for_each(count, [&](int i) { ++visits[static_cast<size_t>(i)]; });
    EXPECT_EQ(visits, std::vector<int>(static_cast<size_t>(count), 1));
  }
}

// Every worker adds one number per phase and reads all the others' of the phase before.
void expect_phases_in_step(int workers, int phases) {
  WorkerPool pool(workers);
  SpinBarrier barrier(workers);
  std::vector<std::vector<int>> written(2, std::vector<int>(static_cast<size_t>(workers)));
  std::atomic<int> wrong{0};
  pool.run([&](int worker) {
    for (int phase = 0; phase < phases; ++phase) {
      const auto side = static_cast<size_t>(phase % 2);
      written[side][static_cast<size_t>(worker)] = phase;
      barrier.wait();
      for (const int value : written[side]) wrong += value != phase;
    }
  });
  EXPECT_EQ(wrong, 0) << workers << " workers";
}

TEST(SpinBarrier, NobodyPassesBeforeTheLastHasArrived) {
  expect_phases_in_step(2, 5'000);
  expect_phases_in_step(3, 1'000);
}

TEST(SpinBarrier, StaysLiveWithManyMoreThreadsThanCpus) {
  expect_phases_in_step(64, 200);
  expect_phases_in_step(256, 20);
}

TEST(SpinBarrier, WakesThoseWhoWaitedLongEnoughToSleep) {
  WorkerPool pool(3);
  SpinBarrier barrier(3);
  std::atomic<int> passed{0};
  pool.run([&](int worker) {
    for (int phase = 0; phase < 3; ++phase) {
      // Far more turns than the others spend before they sleep.
      if (worker == phase) {
        for (int i = 0; i < 20'000; ++i) std::this_thread::yield();
      }
      barrier.wait();
      ++passed;
    }
  });
  EXPECT_EQ(passed, 9);
}

// 1 + 2^-30, which is 1 when rounding to nearest, and half of the smallest normal number.
std::pair<float, float> probe_numerics() {
  volatile float one = 1, small = 0x1p-30f, least = std::numeric_limits<float>::min();
  return {one + small, least * 0.5f};
}

TEST(WorkerPool, ComputesWithRoundToNearestAndDenormalsAndRestoresTheCallersMode) {
  const test::OddNumerics odd;
  const std::pair<float, float> callers = probe_numerics();
  EXPECT_GT(callers.first, 1.0f);
  WorkerPool pool(2);
  std::vector<std::pair<float, float>> workers(2);
  pool.run([&](int worker) { workers[static_cast<size_t>(worker)] = probe_numerics(); });
  for (const auto& [sum, half] : workers) {
    EXPECT_EQ(sum, 1.0f);
    EXPECT_EQ(std::bit_cast<uint32_t>(half), 0x00400000u);  // 2^-127
  }
  EXPECT_EQ(probe_numerics(), callers);
}

#if !ARION_SANITIZED  // sanitizers do not work in little address space

// Stacks take 8 MiB of address space each; some hundred fit what is left.
[[noreturn]] void start_too_many_threads() {
  const rlim_t some = rlim_t{2} << 30;
  const rlimit limit{.rlim_cur = some, .rlim_max = some};
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::exit(2);
  try {
    WorkerPool pool(2'000);
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    std::exit(error.code() == ErrorCode::failed ? 0 : 3);
  }
  std::exit(4);
}

TEST(WorkerPoolDeathTest, ThreadsThatCannotStartAreAnErrorNotTheEndOfTheProgram) {
  EXPECT_EXIT(start_too_many_threads(), testing::ExitedWithCode(0),
              "could start only [0-9]+ of 2000 threads; use a smaller -t");
}

#endif

// The CPUs that the calling thread may run on.
std::vector<int> own_cpus() {
  cpu_set_t mask;
  EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  }
  return cpus;
}

void bind_to(const std::vector<int>& cpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int cpu : cpus) CPU_SET(cpu, &mask);
  EXPECT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
}

TEST(WorkerPool, WorkersThatLeaveASharedCpuAreNotBound) {
  const std::vector<int> all = own_cpus();
  WorkerPool pool(3);
  for (int i = 0; i < 50; ++i) {
    pool.run([&](int) { bind_to({all[0]}); });  // all on one CPU
    pool.run([&](int) { bind_to(all); });
    pool.run([&](int) { EXPECT_EQ(own_cpus(), all); });
  }
}

TEST(WorkerPool, WorkersBoundToOneCpuStayThere) {
  const std::vector<int> all = own_cpus();
  bind_to({all.back()});
  {
    WorkerPool pool(3);  // inherit the mask
    for (int i = 0; i < 50; ++i) {
      pool.run([&](int) { EXPECT_EQ(own_cpus(), std::vector<int>{all.back()}); });
    }
  }
  bind_to(all);
}

}  // namespace
}  // namespace arion
