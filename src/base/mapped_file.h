// A whole file mapped read-only, for readers that point into it instead of copying.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace arion {

// What the system said of a file when it was opened.
struct FileStatus {
  uint64_t size = 0;
  uint64_t inode = 0;
  int64_t modified_ns = 0;  // since 1970
  uint32_t owner = 0;       // user id
  uint32_t mode = 0;        // as in st_mode
};

// Owns the mapping; views into bytes() stay valid when the object is moved. The bytes are what the
// file held when it was opened: a file cut afterwards by somebody else raises SIGBUS on access, as
// with any mapping. Reading from several threads is fine.
class MappedFile {
 public:
  MappedFile() = default;
  // Throws Error: usage when there is no such file, bad_input when it is empty or shorter than the
  // system says, failed when it cannot be read.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const FileStatus& status() const { return status_; }

  // Hints; ranges are clipped to the file. `drop` gives resident pages back (they are read again
  // from the file when touched); a page that the range only begins in is kept.
  void drop(size_t offset, size_t bytes) const;
  void prefetch(size_t offset, size_t bytes) const;
  // Asks for large pages where the file system can give them: what is read then comes in such.
  void prefer_huge_pages() const;

 private:
  void advise(size_t offset, size_t bytes, int advice) const;

  std::byte* data_ = nullptr;
  size_t size_ = 0;
  FileStatus status_;
};

}  // namespace arion
