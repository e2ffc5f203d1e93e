// O_TMPFILE, then linkat; where there is none, a random name, then rename.
#include "base/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

#include "base/error.h"
#include "base/write_all.h"

namespace arion {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kPrivateMode = 0600, kSharedMode = 0666, kPermissions = 0777;

// How an open file without a name is named to linkat.
std::string descriptor_path(int file) {
  return fmt::format("/proc/self/fd/{}", file);
}

// The first of some random names in `folder` that `take` says it has taken, until errno is another
// than EEXIST; empty, with errno, when there is none.
template <typename Take>
std::string take_free_name(const fs::path& folder, Take take) {
  constexpr int kTries = 100;
  std::random_device random;
  for (int i = 0; i < kTries; ++i) {
    std::string name =
        (folder / fmt::format(".arion-{:08x}{:08x}.partial", random(), random())).string();
    if (take(name)) return name;
    if (errno != EEXIST) break;
  }
  return {};
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

OutputFile::OutputFile(fs::path path, OutputFileOptions options) : path_(std::move(path)) {
  check_name();
  resolve();
  if (options.is_private) mode_ = kPrivateMode;
  const mode_t mode = options.is_private ? kPrivateMode : kSharedMode;
  if (!options.is_named) open_unnamed(mode);
  if (file_ < 0) open_named(mode);
}

OutputFile::~OutputFile() {
  if (file_ >= 0) close(file_);
  if (!partial_.empty()) unlink(partial_.c_str());
}

void OutputFile::refuse(int error) const {
  fail(ErrorCode::failed, "cannot write '{}': {}", path_.string(), std::strerror(error));
}

void OutputFile::check_name() const {
  const fs::path name = path_.filename();
  if (name.empty() || name == "." || name == "..") {
    fail(ErrorCode::usage, "'{}' names no file to write", path_.string());
  }
}

void OutputFile::resolve() {
  std::error_code error;
  target_ = path_;
  if (fs::is_symlink(fs::symlink_status(path_, error))) {
    target_ = fs::canonical(path_, error);
    if (error) {
      fail(ErrorCode::usage, "'{}' is a symbolic link that leads to no file: {}", path_.string(),
           error.message());
    }
  }
  struct stat status = {};
  if (lstat(target_.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      fail(ErrorCode::usage, "'{}' is {}, expected the name of a regular file", path_.string(),
           kind_of(status.st_mode));
    }
    if (faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) refuse(errno);
    mode_ = status.st_mode & kPermissions;
    return;
  }
  if (errno != ENOENT && errno != ENOTDIR) refuse(errno);
  const fs::path folder = folder_of(path_);
  if (!fs::is_directory(folder, error)) {
    fail(ErrorCode::usage, "cannot write '{}': there is no folder '{}'", path_.string(),
         folder.string());
  }
}

// Leaves file_ at -1 where that is not possible.
void OutputFile::open_unnamed(mode_t mode) {
  file_ = open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (file_ < 0 || access(descriptor_path(file_).c_str(), F_OK) == 0) return;
  close(file_);
  file_ = -1;
}

void OutputFile::open_named(mode_t mode) {
  partial_ = take_free_name(target_.parent_path(), [&](const std::string& name) {
    file_ = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    return file_ >= 0;
  });
  if (file_ < 0) refuse(errno);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  write_all(file_, bytes, path_);
}

void OutputFile::flush() {
  if (mode_ && fchmod(file_, *mode_) != 0) refuse(errno);
  if (fsync(file_) != 0) refuse(errno);
}

// False where there is something of that name.
bool OutputFile::take_name(const std::string& name) {
  int error = 0;
  if (partial_.empty()) {
    const std::string source = descriptor_path(file_);
    error = linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
  } else {
    error = renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE);
    const bool is_unknown = error != 0 && (errno == EINVAL || errno == ENOSYS);
    if (is_unknown) error = link(partial_.c_str(), name.c_str());
    if (is_unknown && error == 0) unlink(partial_.c_str());
  }
  if (error == 0) partial_.clear();
  return error == 0;
}

void OutputFile::commit() {
  flush();
  if (take_name(target_.string())) return;
  if (partial_.empty()) {
    if (errno != EEXIST) refuse(errno);
    partial_ = take_free_name(target_.parent_path(),
                              [&](const std::string& name) { return take_name(name); });
    if (partial_.empty()) refuse(errno);
  }
  if (std::rename(partial_.c_str(), target_.c_str()) != 0) refuse(errno);
  partial_.clear();
}

bool OutputFile::commit_new() {
  flush();
  if (take_name(target_.string())) return true;
  if (errno != EEXIST) refuse(errno);
  return false;
}

}  // namespace arion
