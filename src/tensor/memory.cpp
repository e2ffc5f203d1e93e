// Maps, aligns and advises the pages, and gives them back.
#include "tensor/memory.h"

#include <sys/mman.h>

#include <utility>

#include "base/error.h"

namespace arion {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

size_t pages(size_t bytes) {
  const size_t page = bytes >= kHugePage ? kHugePage : 4096;
  return (bytes + page - 1) / page * page;
}

}  // namespace

Memory::Memory(size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  const size_t wanted = pages(bytes);
  // Mapping one huge page more lets the start be aligned; the surplus is given back.
  const size_t slack = wanted >= kHugePage ? kHugePage : 0;
  void* raw =
      mmap(nullptr, wanted + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) {
    fail(ErrorCode::failed, "out of memory: {} MiB were refused by the system", bytes >> 20);
  }
  auto* base = static_cast<std::byte*>(raw);
  if (slack != 0) {
    const size_t skip = (kHugePage - reinterpret_cast<uintptr_t>(base) % kHugePage) % kHugePage;
    if (skip != 0) munmap(base, skip);
    if (slack != skip) munmap(base + skip + wanted, slack - skip);
    base += skip;
    madvise(base, wanted, MADV_HUGEPAGE);
  }
  data_ = base;
  mapped_ = wanted;
}

Memory::~Memory() {
  if (data_ != nullptr) munmap(data_, mapped_);
}

Memory::Memory(Memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

}  // namespace arion
