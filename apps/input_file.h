// Reading the files that options name, and standard input.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace arion::app {

// Every byte of a regular file. Throws Error{usage} naming `option` and the path when there is no
// such file that may be read, Error{failed} when reading fails half-way.
std::string read_input_file(const std::filesystem::path& path, std::string_view option);

// Every byte until the end, unchanged. Throws Error{failed} when reading fails.
std::string read_standard_input();

}  // namespace arion::app
