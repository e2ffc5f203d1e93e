// Large zeroed memory in 2 MiB pages where the system grants them.
#pragma once
#include <cstddef>
#include <memory>

namespace arion {

// Owns anonymous memory, 64-byte aligned (2 MiB aligned from 2 MiB on). Movable, not shared.
class Memory {
 public:
  Memory() = default;
  explicit Memory(size_t bytes);  // throws Error{failed} when the system refuses
  ~Memory();
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;    // bytes asked for
  size_t mapped_ = 0;  // bytes mapped
};

}  // namespace arion
