// How many threads machines, affinity masks and containers of every kind get; fake /proc and /sys.
#include "base/worker_count.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "base/worker_pool.h"
#include "temp_dir.h"
#include "test_data.h"

namespace arion {
namespace {

// A machine whose `cores` cores have `threads` hyper-threads each: CPU c is on core c % cores.
class FakeMachine {
 public:
  explicit FakeMachine(int cores, int threads = 1, int packages = 1) {
    const int per_package = cores / packages;
    for (int cpu = 0; cpu < cores * threads; ++cpu) {
      const int core = cpu % cores;
      const std::string topology =
          "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
      write(topology + "core_id", std::to_string(core % per_package));
      write(topology + "physical_package_id", std::to_string(core / per_package));
    }
    allow("0-" + std::to_string(cores * threads - 1));
  }

  void write(const std::string& file, const std::string& text) const {
    const auto path = root_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void allow(const std::string& cpus) const {
    write("proc/self/status", "Name:\tarion\nCpus_allowed:\tffff\nCpus_allowed_list:\t" + cpus);
  }
  // Takes a CPU offline: its topology is gone, the mask may still name it.
  void take_offline(int cpu) const {
    std::filesystem::remove_all(root_.path() / "sys/devices/system/cpu" /
                                ("cpu" + std::to_string(cpu)) / "topology");
  }
  int workers() const { return default_worker_count(root_.path()); }
  int usable() const { return usable_cpu_count(root_.path()); }

 private:
  test::TempDir root_;
};

TEST(WorkerCount, CountsTheThreadsOfACoreOnce) {
  EXPECT_EQ(FakeMachine(4).workers(), 4);
  EXPECT_EQ(FakeMachine(4, 2).workers(), 4);
  EXPECT_EQ(FakeMachine(4, 2).usable(), 8);
  EXPECT_EQ(FakeMachine(8, 2, 2).workers(), 8);  // both packages have cores 0-3
}

TEST(WorkerCount, CoresOfDifferentDiesAreDifferent) {
  const FakeMachine machine(4);
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string topology = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    machine.write(topology + "core_id", std::to_string(cpu % 2));
    machine.write(topology + "die_id", std::to_string(cpu / 2));
  }
  EXPECT_EQ(machine.workers(), 4);
}

TEST(WorkerCount, CountsCoresOfTheAffinityMaskOnly) {
  const FakeMachine machine(4, 2);
  const std::map<std::string, int> expected = {{"0", 1},     {"2,6", 1},     {"0-1", 2},
                                               {"0-2,4", 3}, {"1,3,5,7", 2}, {"0-7", 4}};
  for (const auto& [cpus, workers] : expected) {
    machine.allow(cpus);
    EXPECT_EQ(machine.workers(), workers) << cpus;
  }
}

TEST(WorkerCount, OfflineCpusDoNotEndTheCount) {
  const FakeMachine machine(4);
  machine.take_offline(1);
  EXPECT_EQ(machine.workers(), 3);
}

TEST(WorkerCount, WithoutTopologyEveryAllowedCpuCounts) {
  const FakeMachine machine(2);
  machine.take_offline(0);
  machine.take_offline(1);
  EXPECT_EQ(machine.workers(), 2);
}

TEST(WorkerCount, AMalformedMaskIsNotBelieved) {
  const FakeMachine machine(2);
  for (const char* mask : {"0-99999999", "-1", "1-0", "0;1", "x", ""}) {
    machine.allow(mask);
    EXPECT_GE(machine.workers(), 1) << mask;
    EXPECT_LE(machine.workers(), 2) << mask;
  }
}

TEST(WorkerCount, TakesTheFloorOfTheQuotaButAtLeastOne) {
  const FakeMachine machine(8);
  machine.write("proc/self/cgroup", "0::/");
  const std::map<std::string, int> expected = {
      {"150000 100000", 1}, {"50000 100000", 1}, {"300000 100000", 3},  {"399999 100000", 3},
      {"max 100000", 8},    {"100000 0", 8},     {"9999999 100000", 8}, {"nonsense", 8}};
  for (const auto& [quota, workers] : expected) {
    machine.write("sys/fs/cgroup/cpu.max", quota);
    EXPECT_EQ(machine.workers(), workers) << quota;
    EXPECT_EQ(machine.usable(), workers) << quota;
  }
}

TEST(WorkerCount, TheLeastQuotaOfTheOwnGroupAndThoseAboveItCounts) {
  const FakeMachine machine(8);
  machine.write("proc/self/cgroup", "0::/system.slice/app.service/inner");
  machine.write("sys/fs/cgroup/system.slice/app.service/inner/cpu.max", "max 100000");
  EXPECT_EQ(machine.workers(), 8);
  machine.write("sys/fs/cgroup/system.slice/app.service/cpu.max", "500000 100000");
  EXPECT_EQ(machine.workers(), 5);
  machine.write("sys/fs/cgroup/system.slice/cpu.max", "200000 100000");
  EXPECT_EQ(machine.workers(), 2);
  machine.write("sys/fs/cgroup/other.slice/cpu.max", "100000 100000");
  EXPECT_EQ(machine.workers(), 2);
}

TEST(WorkerCount, ReadsQuotasOfCgroupsVersion1) {
  const FakeMachine machine(8);
  machine.write("proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/docker/app\n1:cpuset:/b");
  const std::string folder = "sys/fs/cgroup/cpu,cpuacct/docker/app/";
  machine.write(folder + "cpu.cfs_period_us", "100000");
  machine.write(folder + "cpu.cfs_quota_us", "-1");
  EXPECT_EQ(machine.workers(), 8);
  machine.write(folder + "cpu.cfs_quota_us", "250000");
  EXPECT_EQ(machine.workers(), 2);
}

TEST(WorkerCount, InAContainerTheMountPointIsTheGroup) {
  const FakeMachine machine(8);
  machine.write("proc/self/cgroup", "4:cpu:/docker/0123abcd");  // a path of the host
  machine.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  machine.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000");
  EXPECT_EQ(machine.workers(), 3);
}

TEST(WorkerCount, OfThisMachineIsReasonable) {
  EXPECT_GE(default_worker_count(), 1);
  EXPECT_LE(default_worker_count(), usable_cpu_count());
}

// Corpus case 139: every line of its matrix, on a machine of 6 cores with 2 threads each.
TEST(WorkerCount, FollowsTheMatrixOfTheCorpus) {
  const auto file = test::corpus_dir() / "cases/139/matrix.txt";
  ARION_REQUIRE_CORPUS(file);
  const std::map<std::string, std::function<void()>> checks = {
      {"taskset -c 0 -> 1 thread",
       [] {
         const FakeMachine machine(6, 2);
         machine.allow("0");
         EXPECT_EQ(machine.workers(), 1);
       }},
      {"cpu.max 150000 100000 -> 1 thread (floor), 2 acceptable if measured not slower",
       [] {
         const FakeMachine machine(6, 2);
         machine.write("sys/fs/cgroup/cpu.max", "150000 100000");
         EXPECT_EQ(machine.workers(), 1);
       }},
      {"no limit, N physical cores -> N", [] { EXPECT_EQ(FakeMachine(6, 2).workers(), 6); }},
      {"explicit --threads is always honoured", [] { EXPECT_EQ(WorkerPool(9).size(), 9); }}};
  std::ifstream in(file);
  size_t lines = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    ++lines;
    ASSERT_TRUE(checks.contains(line)) << "a line this test does not know: " << line;
    checks.at(line)();
  }
  EXPECT_EQ(lines, checks.size());
}

}  // namespace
}  // namespace arion
