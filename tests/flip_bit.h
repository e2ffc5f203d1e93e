// Damage to files, as small as can be.
#pragma once
#include <cstddef>
#include <filesystem>
#include <fstream>

namespace arion::test {

// Changes one bit of a byte in place; doing it again restores the file.
inline void flip_bit(const std::filesystem::path& path, size_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

}  // namespace arion::test
