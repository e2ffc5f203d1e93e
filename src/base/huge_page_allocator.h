// An allocator for large tables that are read at random.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace arion {

// Asks the system to back allocations of at least a huge page (2 MiB) with such pages, so that
// finding the page of an address does not cost more than the read.
template <class T>
struct HugePageAllocator {
  using value_type = T;

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}

  T* allocate(size_t count) {
    constexpr size_t kHugePage = 2 << 20;
    if (count > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
    const size_t page = count * sizeof(T) < kHugePage ? alignof(std::max_align_t) : kHugePage;
    const size_t bytes = (count * sizeof(T) + page - 1) / page * page;
    void* memory = std::aligned_alloc(page, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    if (page == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { std::free(memory); }

  bool operator==(const HugePageAllocator&) const = default;
};

}  // namespace arion
