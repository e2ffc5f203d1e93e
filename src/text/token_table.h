// The bytes of every token in one buffer, and a hash table from bytes back to the token.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/huge_page_allocator.h"

namespace arion {

constexpr int32_t kNoToken = -1;

// Append-only list of byte strings; position is the id.
class TokenBytes {
 public:
  int32_t add(std::string_view bytes);
  std::string_view operator[](int32_t id) const {
    const size_t begin = offsets_[static_cast<size_t>(id)];
    return {buffer_.data() + begin, offsets_[static_cast<size_t>(id) + 1] - begin};
  }
  int32_t size() const { return static_cast<int32_t>(offsets_.size()) - 1; }

 private:
  std::string buffer_;
  std::vector<uint32_t> offsets_ = {0};
};

// Open addressing over the ids of a TokenBytes, which must outlive it. Reading is thread-safe.
class TokenMap {
 public:
  TokenMap(const TokenBytes& bytes, size_t expected_count);

  // Adds `id` unless its bytes are there already: among equals the first one added wins.
  void add(int32_t id);
  int32_t find(std::string_view bytes) const {
    return bytes.size() > max_bytes_ ? kNoToken : find(bytes, hash(bytes));
  }
  // With the hash at hand.
  int32_t find(std::string_view bytes, uint64_t hash) const;
  uint64_t hash(std::string_view bytes) const;
  size_t max_bytes() const { return max_bytes_; }

 private:
  struct Slot {
    uint32_t hash;  // upper half, to skip most comparisons
    int32_t id = kNoToken;
  };
  static constexpr size_t kFilterBitsPerSlot = 4;
  // The low bits of a hash choose the bit of a word of the filter.
  size_t first_slot(uint64_t hash) const { return hash >> 6 & (slots_.size() - 1); }
  void mark(uint64_t hash);
  void resize(size_t slots);

  const TokenBytes& bytes_;
  std::vector<Slot, HugePageAllocator<Slot>> slots_;  // size is a power of two, at most half full
  // A bit for the hash of each token, one in eight or fewer: much smaller than the slots, so that
  // what is no token mostly is told without a read of memory.
  std::vector<uint64_t> filter_;
  int filter_shift_;  // 64 - log2 of its words
  size_t count_ = 0;
  size_t max_bytes_ = 0;
  uint64_t seed_;  // random, so that no file can prepare collisions; results do not depend on it
};

}  // namespace arion
