// Writing to an open file until all of it is written.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace arion {

// `path` is for the message. Throws Error{failed} when the system refuses or the disk is full; then
// a part may be written.
void write_all(int file, std::span<const std::byte> bytes, const std::filesystem::path& path);

}  // namespace arion
