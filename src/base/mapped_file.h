// A whole file mapped read-only, for readers that point into it instead of copying.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace arion {

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

  // Hints; ranges are clipped to the file. `drop` gives resident pages back (they are read again
  // from the file when touched); a page that the range only begins in is kept.
  void drop(size_t offset, size_t bytes) const;
  void prefetch(size_t offset, size_t bytes) const;

 private:
  void advise(size_t offset, size_t bytes, int advice) const;

  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace arion
