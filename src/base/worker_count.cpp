// Reads /proc/self and /sys/fs: affinity mask, cgroups of both versions.
#include "base/worker_count.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/core_count.h"
#include "base/system_files.h"

namespace arion {
namespace {

namespace fs = std::filesystem;

constexpr int kNoLimit = kMaxCpus;

std::vector<int> cpus_of_mask() {
  std::vector<int> cpus;
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
    }
  } else {
    const int count = static_cast<int>(std::thread::hardware_concurrency());
    for (int cpu = 0; cpu < count; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

// The affinity mask. Some sandboxes have no list in /proc: then the system is asked directly.
std::vector<int> allowed_cpus(const fs::path& root) {
  constexpr std::string_view kKey = "Cpus_allowed_list:";
  std::ifstream file(root / "proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kKey)) continue;
    const size_t begin = line.find_first_not_of(" \t", kKey.size());
    if (begin == std::string::npos) break;
    const size_t end = line.find_last_not_of(" \t\r") + 1;
    std::vector<int> cpus = parse_cpu_list(std::string_view(line).substr(begin, end - begin));
    if (!cpus.empty()) return cpus;
  }
  return cpus_of_mask();
}

int whole_cpus(int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0) return kNoLimit;
  return static_cast<int>(std::clamp<int64_t>(quota / period, 1, kNoLimit));
}

// Version 2: "150000 100000", or "max 100000" where nothing is limited.
int quota_v2(const fs::path& folder) {
  std::ifstream file(folder / "cpu.max");
  int64_t quota = 0, period = 0;
  if (!(file >> quota >> period)) return kNoLimit;
  return whole_cpus(quota, period);
}

// Version 1: two files; a quota of -1 is none.
int quota_v1(const fs::path& folder) {
  return whole_cpus(read_number(folder / "cpu.cfs_quota_us").value_or(-1),
                    read_number(folder / "cpu.cfs_period_us").value_or(0));
}

// The least quota of a group and all above it. In containers the group's own path is often not
// there and the mount point is the group: the walk ends with it.
template <typename Quota>
int least_quota(const fs::path& mount, std::string_view group, Quota quota) {
  int least = quota(mount);
  for (fs::path path = fs::path(group).relative_path(); !path.empty(); path = path.parent_path()) {
    least = std::min(least, quota(mount / path));
  }
  return least;
}

// Whole CPUs the process may use, of lines "ID:CONTROLLERS:PATH" in /proc/self/cgroup.
int cgroup_quota(const fs::path& root) {
  const fs::path mounts = root / "sys/fs/cgroup";
  int least = std::min(quota_v2(mounts), quota_v1(mounts / "cpu"));
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const fs::path& mount : {mounts, mounts / "unified"}) {
        least = std::min(least, least_quota(mount, group, quota_v2));
      }
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      for (const fs::path& mount : {mounts / "cpu", mounts / controllers}) {
        least = std::min(least, least_quota(mount, group, quota_v1));
      }
    }
  }
  return least;
}

}  // namespace

int usable_cpu_count(const fs::path& root) {
  const int allowed = static_cast<int>(allowed_cpus(root).size());
  return std::max(1, std::min(allowed, cgroup_quota(root)));
}

int default_worker_count(const fs::path& root) {
  const int cores = count_fast_cores(root, allowed_cpus(root));
  const int usable = usable_cpu_count(root);
  return cores > 0 ? std::min(cores, usable) : usable;
}

}  // namespace arion
