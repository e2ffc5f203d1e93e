// The longest symbol that a text begins with.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/huge_page_allocator.h"

namespace arion {

// A double-array trie (Aoe 1989) over byte strings with a number each. A node is a unit of four
// bytes; its child by a byte is the unit at `base ^ byte` if that says that this byte leads to it.
// This is enough to know because no two nodes share a base. Immutable: thread-safe.
class SymbolTrie {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Key {
    std::string_view text;  // needed during construction only
    uint32_t number;
  };
  // `keys`: different texts, the 256 single bytes among them. Nothing if they take more than eight
  // million units.
  static std::optional<SymbolTrie> make(std::vector<Key> keys);

  struct Match {
    uint32_t number, length;
    uint32_t looked_at;  // bytes of the text: the cost of this match
  };
  // `text` is not empty.
  Match longest(std::string_view text) const {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
    if (text.size() == 1) return {bytes_[byte(0)], 1, 1};
    uint32_t at = uint32_t{byte(0)} << 8 | byte(1);
    uint32_t last = kNone, length = 1, looked_at = 2;
    for (;; ++looked_at) {
      const uint32_t unit = units_[at];
      if ((unit & kIsSymbol) != 0) last = at, length = looked_at;
      if (looked_at == text.size()) break;
      const uint8_t next = byte(looked_at);
      at = unit >> kBaseShift ^ next;
      if (static_cast<uint8_t>(units_[at]) != next) {
        ++looked_at;
        break;
      }
    }
    return {last == kNone ? bytes_[byte(0)] : numbers_[last], length, looked_at};
  }
  // The longest other string that this one begins with, or kNone.
  uint32_t shorter(uint32_t number) const { return shorter_[number]; }

 private:
  // base << 9 | is_symbol << 8 | the byte that leads here.
  static constexpr int kBaseShift = 9;
  static constexpr uint32_t kIsSymbol = 1 << 8;
  static constexpr size_t kMostUnits = size_t{1} << (32 - kBaseShift);

  class Builder;
  using Table = std::vector<uint32_t, HugePageAllocator<uint32_t>>;
  SymbolTrie(Table units, Table numbers, std::vector<uint32_t> bytes, std::vector<uint32_t> shorter)
      : units_(std::move(units)),
        numbers_(std::move(numbers)),
        bytes_(std::move(bytes)),
        shorter_(std::move(shorter)) {}

  Table units_;                  // the first 65,536 are the nodes of two bytes
  Table numbers_;                // of the symbols at units
  std::vector<uint32_t> bytes_;  // numbers of single bytes
  std::vector<uint32_t> shorter_;
};

}  // namespace arion
