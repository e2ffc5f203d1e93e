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

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

[[noreturn]] void refuse_path(const fs::path& path, int error) {
  fail(ErrorCode::failed, "cannot write '{}': {}", path.string(), std::strerror(error));
}

fs::path follow_link(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(path, error))) return path;
  fs::path target = fs::canonical(path, error);
  if (error) {
    fail(ErrorCode::usage, "'{}' is a symbolic link that leads to no file: {}", path.string(),
         error.message());
  }
  return target;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

}  // namespace

OutputTarget find_output_target(const fs::path& path) {
  const fs::path name = path.filename();
  if (name.empty() || name == "." || name == "..") {
    fail(ErrorCode::usage, "'{}' names no file to write", path.string());
  }
  OutputTarget target{follow_link(path), std::nullopt};
  struct stat status = {};
  if (lstat(target.file.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      fail(ErrorCode::usage, "'{}' is {}, expected the name of a regular file", path.string(),
           kind_of(status.st_mode));
    }
    if (faccessat(AT_FDCWD, target.file.c_str(), W_OK, AT_EACCESS) != 0) refuse_path(path, errno);
    target.mode = status.st_mode & kPermissions;
    return target;
  }
  if (errno != ENOENT && errno != ENOTDIR) refuse_path(path, errno);
  std::error_code error;
  const fs::path folder = folder_of(path);
  if (!fs::is_directory(folder, error)) {
    fail(ErrorCode::usage, "cannot write '{}': there is no folder '{}'", path.string(),
         folder.string());
  }
  return target;
}

OutputFile::OutputFile(fs::path path, OutputFileOptions options)
    : path_(std::move(path)), target_(find_output_target(path_)) {
  check_replaceable();
  if (options.is_private) target_.mode = kPrivateMode;
  const mode_t mode = options.is_private ? kPrivateMode : kSharedMode;
  if (!options.is_named) open_unnamed(mode);
  if (file_ < 0) open_named(mode);
}

OutputFile::~OutputFile() {
  if (file_ >= 0) close(file_);
  if (!partial_.empty()) unlink(partial_.c_str());
}

void OutputFile::refuse(int error) const {
  refuse_path(path_, error);
}

// In a folder with the sticky bit only the owners of file and folder may rename.
void OutputFile::check_replaceable() const {
  struct stat folder = {}, file = {};
  const uid_t user = geteuid();
  if (user == 0 || stat(folder_of(target_.file).c_str(), &folder) != 0) return;
  if ((folder.st_mode & S_ISVTX) == 0 || folder.st_uid == user) return;
  if (lstat(target_.file.c_str(), &file) == 0 && file.st_uid != user) refuse(EPERM);
}

// Leaves file_ at -1 where that is not possible.
void OutputFile::open_unnamed(mode_t mode) {
  file_ = open(folder_of(target_.file).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (file_ < 0 || access(descriptor_path(file_).c_str(), F_OK) == 0) return;
  close(file_);
  file_ = -1;
}

void OutputFile::open_named(mode_t mode) {
  partial_ = take_free_name(target_.file.parent_path(), [&](const std::string& name) {
    file_ = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    return file_ >= 0;
  });
  if (file_ < 0) refuse(errno);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  write_all(file_, bytes, path_);
}

// Waiting for the disk is for what can be lost: a file that is replaced, a user's own words. Named
// ones are on file systems that may tell errors of writing only then.
void OutputFile::flush() {
  if (target_.mode && fchmod(file_, *target_.mode) != 0) refuse(errno);
  const bool is_new = !target_.mode && partial_.empty();
  if (!is_new && fsync(file_) != 0) refuse(errno);
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

void OutputFile::remove_old() {
  flush();
  if (unlink(target_.file.c_str()) != 0 && errno != ENOENT) refuse(errno);
}

void OutputFile::commit() {
  flush();
  if (take_name(target_.file.string())) return;
  if (partial_.empty()) {
    if (errno != EEXIST) refuse(errno);
    partial_ = take_free_name(target_.file.parent_path(),
                              [&](const std::string& name) { return take_name(name); });
    if (partial_.empty()) refuse(errno);
  }
  if (std::rename(partial_.c_str(), target_.file.c_str()) != 0) refuse(errno);
  partial_.clear();
}

bool OutputFile::commit_new() {
  flush();
  if (take_name(target_.file.string())) return true;
  if (errno != EEXIST) refuse(errno);
  return false;
}

}  // namespace arion
