// How many threads machines, affinity masks and containers of every kind get; fake /proc and /sys.
#include "base/worker_count.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>

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

// 4 fast cores with two threads each (CPUs 0-7) and 8 slow ones (CPUs 8-15).
void make_hybrid(const FakeMachine& machine) {
  for (int cpu = 0; cpu < 16; ++cpu) {
    const std::string topology = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    machine.write(topology + "core_id", std::to_string(cpu < 8 ? cpu / 2 : cpu));
    machine.write(topology + "physical_package_id", "0");
  }
  machine.allow("0-15");
}

void write_for_all(const FakeMachine& machine, const std::string& file, const std::string& fast,
                   const std::string& slow) {
  for (int cpu = 0; cpu < 16; ++cpu) {
    machine.write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/" + file,
                  cpu < 8 ? fast : slow);
  }
}

TEST(WorkerCount, EfficiencyCoresOfIntelsHybridsDoNotCount) {
  const FakeMachine machine(1);
  make_hybrid(machine);
  EXPECT_EQ(machine.workers(), 12);
  machine.write("sys/devices/cpu_core/cpus", "0-7");
  machine.write("sys/devices/cpu_atom/cpus", "8-15");
  EXPECT_EQ(machine.workers(), 4);
  EXPECT_EQ(machine.usable(), 16);
  machine.allow("0,1,9");
  EXPECT_EQ(machine.workers(), 1);
  machine.allow("10-12");  // none but slow ones are left
  EXPECT_EQ(machine.workers(), 3);
}

TEST(WorkerCount, SlowCoresShowByCapacityOrClock) {
  const FakeMachine by_capacity(1);
  make_hybrid(by_capacity);
  write_for_all(by_capacity, "cpu_capacity", "1024", "430");
  write_for_all(by_capacity, "cpufreq/cpuinfo_max_freq", "2000000", "2000000");  // looked at after
  EXPECT_EQ(by_capacity.workers(), 4);
  const FakeMachine by_clock(1);
  make_hybrid(by_clock);
  write_for_all(by_clock, "cpufreq/cpuinfo_max_freq", "5100000", "3100000");
  EXPECT_EQ(by_clock.workers(), 4);
}

TEST(WorkerCount, CoresThatMerelyTurboLessAreOfTheSameKind) {
  const FakeMachine machine(1);
  make_hybrid(machine);
  write_for_all(machine, "cpufreq/cpuinfo_max_freq", "5700000", "5200000");
  EXPECT_EQ(machine.workers(), 12);
}

TEST(WorkerCount, MalformedDescriptionsOfCoresAreNotBelieved) {
  const FakeMachine machine(1);
  make_hybrid(machine);
  for (const char* text : {"", "x", "-5", "0", "99999999999999999999", "8-", "8-7", "1,,2"}) {
    write_for_all(machine, "cpu_capacity", "1024", text);
    write_for_all(machine, "cpufreq/cpuinfo_max_freq", text, "1");
    machine.write("sys/devices/cpu_atom/cpus", text);
    EXPECT_EQ(machine.workers(), 12) << text;
  }
}

TEST(WorkerCount, MalformedTopologyIsThatOfAnOfflineCpu) {
  const FakeMachine machine(4);
  for (const char* text : {"", "core", "99999999999999999999"}) {
    machine.write("sys/devices/system/cpu/cpu1/topology/core_id", text);
    EXPECT_EQ(machine.workers(), 3) << text;
  }
}

TEST(WorkerCount, AContainerWithoutSysHasTheCpusOfItsMask) {
  const test::TempDir root;
  std::filesystem::create_directories(root.path() / "proc/self");
  std::ofstream(root.path() / "proc/self/status") << "Cpus_allowed_list:\t0-2\n";
  std::ofstream(root.path() / "proc/self/cgroup") << "0::/\n";
  EXPECT_EQ(default_worker_count(root.path()), 3);
  EXPECT_EQ(usable_cpu_count(root.path()), 3);
}

TEST(WorkerCount, WithoutProcAndSysTheSystemIsAsked) {
  const test::TempDir root;
  EXPECT_GE(default_worker_count(root.path()), 1);
}

TEST(WorkerCount, MalformedGroupsAndQuotasLimitNothing) {
  const FakeMachine machine(8);
  for (const char* groups : {"", ":", "::", "0:", "0::", "4:cpu", "4:cpu:", "0::/../../..", "x"}) {
    machine.write("proc/self/cgroup", groups);
    EXPECT_EQ(machine.workers(), 8) << groups;
  }
  machine.write("proc/self/cgroup", "4:cpu:/app\n0::/app");
  for (const char* quota : {"", "x", "-1", "0", "99999999999999999999 1"}) {
    machine.write("sys/fs/cgroup/app/cpu.max", quota);
    machine.write("sys/fs/cgroup/cpu/app/cpu.cfs_period_us", "100000");
    machine.write("sys/fs/cgroup/cpu/app/cpu.cfs_quota_us", quota);
    EXPECT_EQ(machine.workers(), 8) << quota;
  }
}

TEST(WorkerCount, TheLeastQuotaOfVersion1CountsToo) {
  const FakeMachine machine(8);
  machine.write("proc/self/cgroup", "4:cpu,cpuacct:/pods/app");
  for (const auto& [group, quota] : {std::pair("pods/app/", "600000"), {"pods/", "350000"}}) {
    const std::string folder = std::string("sys/fs/cgroup/cpu,cpuacct/") + group;
    machine.write(folder + "cpu.cfs_period_us", "100000");
    machine.write(folder + "cpu.cfs_quota_us", quota);
  }
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
