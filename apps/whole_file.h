// Writing small files whole or not at all.
#pragma once
#include <filesystem>
#include <string_view>

namespace arion::app {

// Both write with mode 0600 under another name and rename, so that nobody ever reads half of a
// file. Throw Error: usage when what is there is no regular file; failed when writing fails, and
// then nothing has changed.
void replace_file(const std::filesystem::path& path, std::string_view content);
// False, and nothing has changed, where there is such a file already.
bool write_new_file(const std::filesystem::path& path, std::string_view content);

}  // namespace arion::app
