// Read-only mmap with the checks that turn a truncated file into an error instead of a SIGBUS.
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace arion {
namespace {

struct FileDescriptor {
  int fd;
  ~FileDescriptor() {
    if (fd >= 0) close(fd);
  }
};

size_t page_bytes() {
  return static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

FileStatus regular_file_status(int fd, const std::string& name) {
  struct stat status {};
  if (fstat(fd, &status) != 0) {
    fail(ErrorCode::failed, "{}: cannot read the file status: {}", name, std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) fail(ErrorCode::usage, "{}: not a regular file", name);
  return {.size = static_cast<uint64_t>(status.st_size),
          .inode = static_cast<uint64_t>(status.st_ino),
          .modified_ns = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec,
          .owner = static_cast<uint32_t>(status.st_uid),
          .mode = static_cast<uint32_t>(status.st_mode)};
}

// True when the last byte can really be read: a network file system may announce more than it has.
bool last_byte_readable(int fd, uint64_t size) {
  std::byte last{};
  ssize_t got = 0;
  do {
    got = pread(fd, &last, 1, static_cast<off_t>(size - 1));
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const std::string name = path.string();
  // Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
  const FileDescriptor file{open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) {
    const auto code = errno == ENOENT || errno == ENOTDIR ? ErrorCode::usage : ErrorCode::failed;
    fail(code, "{}: cannot open: {}", name.empty() ? "''" : name, std::strerror(errno));
  }
  status_ = regular_file_status(file.fd, name);
  const uint64_t size = status_.size;
  if (size == 0) fail(ErrorCode::bad_input, "{}: the file is empty", name);
  if (size > SIZE_MAX) fail(ErrorCode::failed, "{}: too large for this machine", name);
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (address == MAP_FAILED) {
    fail(ErrorCode::failed, "{}: cannot map {} bytes: {}", name, size, std::strerror(errno));
  }
  data_ = static_cast<std::byte*>(address);
  size_ = size;
  const bool is_whole =
      regular_file_status(file.fd, name).size == size && last_byte_readable(file.fd, size);
  if (!is_whole) {
    munmap(data_, size_);
    fail(ErrorCode::bad_input,
         "{}: holds fewer than the {} bytes it had when opened; it is being written or was "
         "truncated, try again with a complete file",
         name, size);
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      status_(other.status_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(status_, other.status_);
  return *this;
}

void MappedFile::drop(size_t offset, size_t bytes) const {
  // The last page belongs to whatever follows, unless the range ends the file.
  const size_t end = offset + std::min(bytes, size_ - std::min(offset, size_));
  const size_t kept = end == size_ ? 0 : end % page_bytes();
  if (offset < size_ && end - offset > kept) advise(offset, end - kept - offset, MADV_DONTNEED);
}

void MappedFile::prefetch(size_t offset, size_t bytes) const {
  advise(offset, bytes, MADV_WILLNEED);
}

void MappedFile::prefer_huge_pages() const {
  advise(0, size_, MADV_HUGEPAGE);
}

void MappedFile::advise(size_t offset, size_t bytes, int advice) const {
  if (offset >= size_) return;
  const size_t begin = offset - offset % page_bytes();
  const size_t end = offset + std::min(bytes, size_ - offset);
  madvise(data_ + begin, end - begin, advice);  // a hint: failure changes nothing
}

}  // namespace arion
