// Reads /sys/devices: topology, and which CPUs are slow by design.
#include "base/core_count.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "base/system_files.h"

namespace arion {
namespace {

namespace fs = std::filesystem;

// (package, die, core)
using Core = std::tuple<int64_t, int64_t, int64_t>;

fs::path cpu_folder(const fs::path& root, int cpu) {
  return root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu));
}

std::optional<Core> core_of(const fs::path& root, int cpu) {
  const fs::path topology = cpu_folder(root, cpu) / "topology";
  const auto package = read_number(topology / "physical_package_id");
  const auto core = read_number(topology / "core_id");
  if (!package || !core) return std::nullopt;
  // Older kernels number cores within a die.
  return Core(*package, read_number(topology / "die_id").value_or(0), *core);
}

// What the file of every CPU says; empty if one says nothing.
std::vector<int64_t> read_all(const fs::path& root, const std::vector<int>& cpus,
                              const char* file) {
  std::vector<int64_t> values;
  for (const int cpu : cpus) {
    const auto value = read_number(cpu_folder(root, cpu) / file);
    if (!value || *value <= 0) return {};
    values.push_back(*value);
  }
  return values;
}

// By the kernel's measure of capacity, or by the highest clock. A third less is another kind of
// core; chosen ones of one kind differ by a tenth.
std::vector<int> slower_cpus(const fs::path& root, const std::vector<int>& cpus) {
  std::vector<int64_t> speeds = read_all(root, cpus, "cpu_capacity");
  if (speeds.empty()) speeds = read_all(root, cpus, "cpufreq/cpuinfo_max_freq");
  if (speeds.empty()) return {};
  const int64_t best = *std::ranges::max_element(speeds);
  std::vector<int> slow;
  for (size_t i = 0; i < cpus.size(); ++i) {
    if (speeds[i] < best - best / 3) slow.push_back(cpus[i]);
  }
  return slow;
}

// Intel's hybrids list the CPUs of both kinds.
std::vector<int> atom_cpus(const fs::path& root) {
  std::ifstream file(root / "sys/devices/cpu_atom/cpus");
  std::string list;
  file >> list;
  return parse_cpu_list(list);
}

}  // namespace

int count_fast_cores(const fs::path& root, const std::vector<int>& cpus) {
  std::vector<int> online;
  std::vector<Core> cores;
  for (const int cpu : cpus) {
    if (const auto core = core_of(root, cpu)) {
      online.push_back(cpu);
      cores.push_back(*core);
    }
  }
  std::vector<int> slow = atom_cpus(root);
  if (slow.empty()) slow = slower_cpus(root, online);
  std::set<Core> fast;
  for (size_t i = 0; i < online.size(); ++i) {
    if (std::ranges::find(slow, online[i]) == slow.end()) fast.insert(cores[i]);
  }
  if (fast.empty()) fast.insert(cores.begin(), cores.end());
  return static_cast<int>(fast.size());
}

}  // namespace arion
