// The longest symbol that a text begins with.
#pragma once
#include <algorithm>
#include <array>
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
  };
  // The symbols that a text begins with.
  struct Matches {
    static constexpr uint32_t kEnd = 64;  // longer ones are not kept
    std::array<uint32_t, kEnd> numbers;   // by length
    uint64_t lengths = 0;                 // a bit per length of a symbol
    uint32_t looked_at = 0;               // bytes of the text: the cost of finding them
  };
  // `text` is not empty.
  void find(std::string_view text, Matches& matches) const {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
    matches.numbers[1] = bytes_[byte(0)];
    matches.lengths = 2;
    matches.looked_at = 1;
    if (text.size() == 1) return;
    uint32_t looked_at = 2;
    uint64_t lengths = 2;
    for (uint32_t at = uint32_t{byte(0)} << 8 | byte(1);; ++looked_at) {
      const Unit unit = units_[at];
      matches.numbers[looked_at % Matches::kEnd] = unit.number;
      lengths |= uint64_t{(unit.node & kIsSymbol) != 0} << looked_at % Matches::kEnd;
      if (looked_at == text.size() || looked_at == Matches::kEnd) break;
      const uint8_t next = byte(looked_at);
      at = unit.node >> kBaseShift ^ next;
      if (static_cast<uint8_t>(units_[at].node) != next) {
        ++looked_at;
        break;
      }
    }
    matches.lengths = lengths;
    matches.looked_at = looked_at;
  }
  // The longest of them, of any length, for at least two bytes of text.
  Match longest(std::string_view text, uint32_t& looked_at) const {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
    Match match{bytes_[byte(0)], 1};
    uint32_t at = uint32_t{byte(0)} << 8 | byte(1);
    for (uint32_t length = 2;; ++length) {
      const Unit unit = units_[at];
      if ((unit.node & kIsSymbol) != 0) match = {unit.number, length};
      looked_at = length;
      if (length == text.size()) return match;
      at = unit.node >> kBaseShift ^ byte(length);
      if (static_cast<uint8_t>(units_[at].node) != byte(length)) return match;
    }
  }
  // The longest other string that this one begins with, or kNone.
  Match shorter(uint32_t number) const {
    const uint32_t other = symbols_[number].shorter;
    return {other, other == kNone ? 0 : symbols_[other].length};
  }
  uint32_t length(uint32_t number) const { return symbols_[number].length; }

 private:
  // base << 9 | is_symbol << 8 | the byte that leads here.
  static constexpr int kBaseShift = 9;
  static constexpr uint32_t kIsSymbol = 1 << 8;
  static constexpr size_t kMostUnits = size_t{1} << (32 - kBaseShift);

  struct Unit {
    uint32_t node = 0, number = 0;  // the number of the symbol here, if there is one
  };
  struct Symbol {
    uint32_t shorter = kNone, length = 0;
  };
  class Builder;
  using Table = std::vector<Unit, HugePageAllocator<Unit>>;
  SymbolTrie(Table units, std::vector<uint32_t> bytes, std::vector<Symbol> symbols)
      : units_(std::move(units)), bytes_(std::move(bytes)), symbols_(std::move(symbols)) {}

  Table units_;                  // the first 65,536 are the nodes of two bytes
  std::vector<uint32_t> bytes_;  // numbers of single bytes
  std::vector<Symbol> symbols_;  // by number
};

}  // namespace arion
