// Small files in which Linux describes CPUs. One that is missing or malformed says nothing.
#pragma once
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

namespace arion {

inline constexpr int kMaxCpus = 1 << 16;  // no list of CPUs is longer

inline std::optional<int64_t> read_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  int64_t value = 0;
  if (!(file >> value) || !(file >> std::ws).eof()) return std::nullopt;
  return value;
}

// CPUs of a list such as "0-3,8,10-11"; empty if it is malformed.
inline std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int first = 0, last = 0;
    auto [next, error] = std::from_chars(at, end, first);
    if (error != std::errc() || first < 0 || first >= kMaxCpus) return {};
    last = first;
    if (next < end && *next == '-') {
      const auto range = std::from_chars(next + 1, end, last);
      if (range.ec != std::errc() || last < first || last >= kMaxCpus) return {};
      next = range.ptr;
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (next < end && *next != ',') return {};
    at = next + 1;
  }
  return cpus;
}

}  // namespace arion
