// Which of many byte strings a text begins with.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace arion {

// A trie over keys with a number each. Immutable: thread-safe.
class PrefixTrie {
 public:
  struct Key {
    std::string_view text;  // not empty; needed during construction only
    int32_t value;          // not negative
  };
  // Among equal keys the first one counts.
  explicit PrefixTrie(std::vector<Key> keys);

  // Calls visit(length, value) for every key that `text` begins with, shortest first.
  template <class Visit>
  void for_each_prefix(std::string_view text, const Visit& visit) const {
    if (text.empty()) return;
    int32_t node = roots_[static_cast<uint8_t>(text[0])];
    for (size_t length = 1; node >= 0; ++length) {
      if (nodes_[node].value >= 0) visit(length, nodes_[node].value);
      node = length < text.size() ? follow(nodes_[node], static_cast<uint8_t>(text[length])) : -1;
    }
  }

  struct Match {
    size_t length = 0;  // 0: no key
    int32_t value = -1;
  };
  Match longest_prefix(std::string_view text) const {
    Match match;
    for_each_prefix(text, [&](size_t length, int32_t value) { match = {length, value}; });
    return match;
  }
  // Whether some key starts with this byte.
  bool starts_with(uint8_t byte) const { return roots_[byte] >= 0; }

 private:
  struct Node {
    int32_t value = -1;
    uint32_t first_edge = 0;  // edges_[first_edge, + edge_count), ascending bytes
    uint16_t edge_count = 0;
  };
  struct Edge {
    uint8_t byte;
    int32_t node;
  };
  int32_t follow(const Node& node, uint8_t byte) const {
    const Edge* low = edges_.data() + node.first_edge;
    size_t count = node.edge_count;
    while (count > 0) {
      const size_t half = count / 2;
      if (low[half].byte < byte) {
        low += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    const bool is_found =
        low < edges_.data() + node.first_edge + node.edge_count && low->byte == byte;
    return is_found ? low->node : -1;
  }

  std::array<int32_t, 256> roots_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
};

}  // namespace arion
