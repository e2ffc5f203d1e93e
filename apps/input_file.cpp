#include "input_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/error.h"

namespace arion::app {
namespace {

namespace fs = std::filesystem;

std::string read_all(std::FILE* in, std::string_view name) {
  std::string text;
  char buffer[1 << 16];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, in)) text.append(buffer, got);
  if (std::ferror(in) != 0) {
    fail(ErrorCode::failed, "cannot read all of {}: {}", name, std::strerror(errno));
  }
  return text;
}

}  // namespace

std::string read_input_file(const fs::path& path, std::string_view option) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error)
    fail(ErrorCode::usage, "{}: cannot read '{}': {}", option, path.string(), error.message());
  // A device or pipe may never end.
  if (!fs::is_regular_file(status)) {
    fail(ErrorCode::usage, "{}: '{}' is {}, expected a regular file", option, path.string(),
         fs::is_directory(status) ? "a directory" : "a device or pipe");
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(path.c_str(), "rb"),
                                                           &std::fclose);
  if (!in) {
    fail(ErrorCode::usage, "{}: cannot read '{}': {}", option, path.string(), std::strerror(errno));
  }
  return read_all(in.get(), path.string());
}

std::string read_standard_input() {
  return read_all(stdin, "standard input");
}

}  // namespace arion::app
