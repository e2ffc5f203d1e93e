// How many threads this process should compute with, from what the system says about its CPUs.
#pragma once
#include <filesystem>

namespace arion {

// CPUs that may run threads of this process at the same time: those of the affinity mask, at most
// the whole CPUs of the cgroup's quota; at least 1. `root` is where /proc and /sys are.
int usable_cpu_count(const std::filesystem::path& root = "/");

// The same with the hyper-threads of a core counted once, and without efficiency cores where there
// are others: threads that meet at barriers lose when two share a core, when one is throttled, and
// when all wait for the slowest.
int default_worker_count(const std::filesystem::path& root = "/");

}  // namespace arion
