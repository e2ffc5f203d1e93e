// Remembers the ids of words seen before in a text.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace arion {

// Direct-mapped: a word replaces the one in its place. Not thread-safe; one per text.
class WordCache {
 public:
  // Sized for the text, so that a short one does not pay for clearing a large cache.
  explicit WordCache(size_t text_bytes)
      : entries_(std::bit_ceil(std::clamp(text_bytes / kTextBytesPerEntry, size_t{1}, kMost))) {}

  // Appends the ids of the word if they are there. `hash` is of the word.
  bool append(std::string_view word, uint64_t hash, std::vector<int32_t>& ids) const {
    const Entry& entry = entries_[hash & (entries_.size() - 1)];
    if (entry.tag != tag(hash) || entry.word_bytes != word.size() ||
        std::memcmp(entry.word.data(), word.data(), word.size()) != 0) {
      return false;
    }
    ids.insert(ids.end(), entry.ids.data(), entry.ids.data() + entry.id_count);
    return true;
  }

  // Long words and lists are not kept.
  void put(std::string_view word, uint64_t hash, std::span<const int32_t> ids) {
    if (word.size() > kWordBytes || ids.size() > kIds) return;
    Entry& entry = entries_[hash & (entries_.size() - 1)];
    entry.tag = tag(hash);
    entry.word_bytes = static_cast<uint8_t>(word.size());
    entry.id_count = static_cast<uint8_t>(ids.size());
    std::copy(word.begin(), word.end(), entry.word.begin());
    std::copy(ids.begin(), ids.end(), entry.ids.begin());
  }

 private:
  static constexpr size_t kTextBytesPerEntry = 64;
  static constexpr size_t kMost = 4096;  // entries: a quarter of a megabyte
  static constexpr size_t kWordBytes = 26, kIds = 8;

  struct alignas(64) Entry {
    uint32_t tag = 0;
    uint8_t word_bytes = 0;  // 0: empty
    uint8_t id_count = 0;
    std::array<char, kWordBytes> word;
    std::array<int32_t, kIds> ids;
  };
  static uint32_t tag(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

  std::vector<Entry> entries_;
};

}  // namespace arion
