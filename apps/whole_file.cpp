#include "whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.h"

namespace arion::app {
namespace {

namespace fs = std::filesystem;

// Removed at the end unless it was renamed.
class PartialFile {
 public:
  PartialFile(const fs::path& path, std::string_view content)
      : target_(path), name_(path.string() + ".XXXXXX"), file_(mkostemp(name_.data(), O_CLOEXEC)) {
    if (file_ < 0) refuse();
    try {
      write_all(content);
    } catch (...) {
      clean_up();
      throw;
    }
  }
  ~PartialFile() { clean_up(); }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  void rename_to_target() {
    if (std::rename(name_.c_str(), target_.c_str()) != 0) refuse();
    is_renamed_ = true;
  }

 private:
  void write_all(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = write(file_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) refuse();
      content.remove_prefix(static_cast<size_t>(written));
    }
    if (fsync(file_) != 0) refuse();
    const int error = close(file_);
    file_ = -1;
    if (error != 0) refuse();
  }

  void clean_up() const {
    if (file_ >= 0) close(file_);
    if (!is_renamed_) unlink(name_.c_str());
  }
  [[noreturn]] void refuse() const {
    fail(ErrorCode::failed, "cannot write '{}': {}", target_.string(), std::strerror(errno));
  }

  fs::path target_;
  std::string name_;
  int file_;
  bool is_renamed_ = false;
};

// Takes the name by an empty file; false where it is taken.
bool claim(const fs::path& path) {
  const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  return file >= 0 || errno != EEXIST;  // other errors are those of the writing
}

void check_replaceable(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    fail(ErrorCode::usage, "'{}' is no regular file", path.string());
  }
}

}  // namespace

void replace_file(const fs::path& path, std::string_view content) {
  check_replaceable(path);
  PartialFile(path, content).rename_to_target();
}

bool write_new_file(const fs::path& path, std::string_view content) {
  check_replaceable(path);
  PartialFile partial(path, content);
  if (!claim(path)) return false;
  partial.rename_to_target();
  return true;
}

}  // namespace arion::app
