// The cores behind CPUs, as the system numbers those.
#pragma once
#include <filesystem>
#include <vector>

namespace arion {

// Distinct cores among the CPUs, without the slow ones where there are fast ones too; CPUs without
// topology are offline. 0 if the system does not say. `root` is where /sys is.
int count_fast_cores(const std::filesystem::path& root, const std::vector<int>& cpus);

}  // namespace arion
