// How symbols come about by merging, and so which of them can stand side by side.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/huge_page_allocator.h"
#include "text/merge.h"
#include "text/token_table.h"

namespace arion {

// A symbol is a byte string that merging its own bytes makes. Symbols have *places*: the 256 single
// bytes come first, then the others by the rank of the merge that makes them. A symbol has one such
// merge, because merging its bytes goes one way only; rules that no text gets to are left out.
// Immutable: thread-safe.
class MergeHistory {
 public:
  struct Rule {
    int32_t left, right, result;  // strings of a TokenBytes
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  // `rules` are best first; `bytes` lists the 256 single bytes. Nothing if there are more than two
  // million places.
  static std::optional<MergeHistory> make(const TokenBytes& strings, std::span<const int32_t> bytes,
                                          std::span<const Rule> rules);

  // The string at a place, kNoToken for the place of a rule that is left out.
  int32_t string(uint32_t place) const { return strings_[place]; }
  // Behind the last place.
  uint32_t end() const { return static_cast<uint32_t>(strings_.size()); }
  // What the two symbols merge into, or kNone.
  uint32_t find(uint32_t left, uint32_t right) const {
    const uint64_t pair = uint64_t{left} << kPlaceBits | right;
    const uint64_t hash = pair * multiplier_;
    const uint64_t bits = filter_bits(hash);
    // Whether a pair merges is hard to foretell, hence no branch here: pairs that do not pass the
    // filter look at a slot that is always free.
    const uint64_t passes = (filter_[hash >> kFilterShift] & bits) == bits;
    size_t at = (kFirstSlot + (hash >> shift_)) & (0 - passes);
    uint64_t slot = slots_[at];
    while (std::min(slot >> kPlaceBits ^ pair, slot ^ kFree) != 0) {
      at = slot_behind(at);
      slot = slots_[at];
    }
    return static_cast<uint32_t>(slot & (kMostPlaces - 1)) | (0 - uint32_t{slot == kFree});
  }

  // Scratch memory of comparisons, and what they cost: one per thread.
  struct Work {
    Merger merger;
    size_t lookups = 0;
  };
  // Whether merging the text of both leaves these two symbols.
  bool stay_apart(uint32_t left, uint32_t right, Work& work) const {
    ++work.lookups;
    if (find(left, right) != kNone) return false;
    // Takes the merges of both back from the last to the first. A merge across the border that
    // would have gone before the one just taken back settles it; of equal ones the leftmost goes
    // first.
    uint32_t x = left, y = right;
    Making making_x = making(x), making_y = making(y);
    while (true) {
      uint32_t before;
      bool is_in_order;
      if (making_x.time > making_y.time) {
        before = making_x.time;
        x = making_x.right;
        making_x = making(x);
        is_in_order = making_x.time < before;
      } else {
        if (y < kBytes) return true;
        before = making_y.time + 1;
        y = making_y.left;
        making_y = making(y);
        is_in_order = making_y.time + 1 < before;
      }
      ++work.lookups;
      if (find(x, y) >= before) continue;
      return is_in_order ? false : merge_apart(left, right, work);
    }
  }
  // Sets the bit of each place of the text from `begin` to `end` where certainly no symbol ends.
  void mark_joins(std::string_view text, size_t begin, size_t end, std::span<uint64_t> bits) const;
  // Merges a text in the plain way: places are the ids of the symbols of `merger`.
  void merge(std::string_view text, Merger& merger) const;

 private:
  static constexpr uint32_t kBytes = 256;
  static constexpr int kPlaceBits = 21;  // three places fit into a slot
  static constexpr size_t kMostPlaces = 1 << kPlaceBits;
  static constexpr uint64_t kFree = UINT64_MAX;
  static constexpr size_t kFirstSlot = 1;

  // How a symbol is made of its bytes. Ranks mostly ascend on the way, and then `time` is the
  // place; otherwise it is the highest place on the way, as merges of a lower one wait for that
  // one.
  struct Making {
    uint32_t left = 0, right = 0;
    uint32_t time = 0;
  };
  Making making(uint32_t place) const {
    const uint64_t packed = makings_[place];
    constexpr uint64_t kMask = kMostPlaces - 1;
    return {static_cast<uint32_t>(packed >> 2 * kPlaceBits),
            static_cast<uint32_t>(packed >> kPlaceBits & kMask),
            static_cast<uint32_t>(packed & kMask)};
  }

  // What two bytes merge into if no merge of that symbol goes before its own, and the places of the
  // first merges that take the left byte alone with any symbol that begins with the right one, and
  // the right one alone with any that ends with the left one.
  struct BytePair {
    uint32_t joined_in_order = kNone;
    uint32_t takes_left = kNone, takes_right = kNone;
  };

  size_t slot_behind(size_t at) const { return at + 1 < slots_.size() ? at + 1 : kFirstSlot; }
  template <class Visit>
  void visit_joins(std::string_view text, const Visit& visit) const;
  Merge rule(const MergeSymbol& left, const MergeSymbol& right) const;
  explicit MergeHistory(size_t rule_count);
  void add(uint32_t left, uint32_t right, uint32_t joined);
  bool merge_apart(uint32_t left, uint32_t right, Work& work) const;
  void add_bytes(uint32_t place, std::vector<MergeSymbol>& symbols) const;

  std::vector<int32_t> strings_;                                // by place
  std::vector<uint64_t, HugePageAllocator<uint64_t>> makings_;  // by place
  std::vector<BytePair> pairs_ = std::vector<BytePair>(kBytes * kBytes);
  std::vector<uint8_t> first_bytes_, last_bytes_;  // by place
  // Two bits of a word for the hash of each pair: most that are looked up have none.
  static constexpr int kFilterShift = 64 - 14;
  static uint64_t filter_bits(uint64_t hash) {
    return uint64_t{1} << (hash >> 44 & 63) | uint64_t{1} << (hash >> 38 & 63);
  }
  std::vector<uint64_t> filter_ = std::vector<uint64_t>(1 << 14);
  // The first is always free. Then left << 42 | right << 21 | joined in open addressing, at most
  // half full.
  std::vector<uint64_t, HugePageAllocator<uint64_t>> slots_;
  int shift_;            // 64 - log2 of the slots: multiplicative hashing takes the top bits
  uint64_t multiplier_;  // odd, random, so that no file can prepare collisions
};

}  // namespace arion
