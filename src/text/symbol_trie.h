// The longest symbol that a text begins with.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/huge_page_allocator.h"

namespace arion {

// A trie over byte strings with a number each, made for few cache misses per byte: a node is the
// number of its string where it has one, edges lie in one hash table, those of a node side by side.
// Reading is thread-safe.
class SymbolTrie {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  // Numbers and nodes that are no string.
  static constexpr size_t kMostNodes = 1 << 24;

  // For strings of numbers below `end`.
  explicit SymbolTrie(uint32_t end);

  // From the shortest string to the longest, each once, the 256 single bytes first. `end` and the
  // bytes of all strings are at most kMostNodes together.
  void add(std::string_view string, uint32_t number);

  struct Match {
    uint32_t number, length;
    uint32_t looked_at;  // bytes of the text: the cost of this match
  };
  // `text` is not empty.
  Match longest(std::string_view text) const {
    Match match = {bytes_[static_cast<uint8_t>(text[0])], 1, 1};
    if (text.size() == 1) return match;
    uint32_t node = pairs_[pair_index(text)];
    for (match.looked_at = 2; node != kNone; ++match.looked_at) {
      if (node < end_) match.number = node, match.length = match.looked_at;
      if (match.looked_at == text.size()) break;
      node = edges_[place_of(node, static_cast<uint8_t>(text[match.looked_at]))].node;
    }
    return match;
  }
  // The longest other string that this one begins with, or kNone.
  uint32_t shorter(uint32_t number) const { return shorter_[number]; }

 private:
  struct Edge {
    uint32_t key = kNone;  // node << 8 | byte
    uint32_t node = kNone;
  };
  static size_t pair_index(std::string_view text) {
    return size_t{static_cast<uint8_t>(text[0])} << 8 | static_cast<uint8_t>(text[1]);
  }
  // Where the edge is, or is to be put.
  size_t place_of(uint32_t node, uint8_t byte) const {
    const uint32_t key = node << 8 | byte;
    size_t at = ((node * multiplier_ >> shift_) + byte) & (edges_.size() - 1);
    while (edges_[at].key != key && edges_[at].key != kNone) at = (at + 1) & (edges_.size() - 1);
    return at;
  }
  // The node behind the last byte of `string`, which follows `node`; kNone if it is new.
  uint32_t& child(uint32_t node, std::string_view string);
  void grow();

  uint32_t end_;
  uint32_t next_node_;
  std::array<uint32_t, 256> bytes_;
  std::vector<uint32_t> pairs_ = std::vector<uint32_t>(1 << 16, kNone);  // nodes of two bytes
  std::vector<Edge, HugePageAllocator<Edge>> edges_;  // open addressing, at most half full
  size_t edge_count_ = 0;
  int shift_;            // 64 - log2 of the edges: multiplicative hashing takes the top bits
  uint64_t multiplier_;  // odd, random, so that no file can prepare collisions
  std::vector<uint32_t> shorter_;
};

}  // namespace arion
