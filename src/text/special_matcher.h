// Finds special tokens in text: at the leftmost place the longest one.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/text_range.h"

namespace arion {

// A trie over the tokens' spellings. Thread-safe once built. Finding costs at most the longest
// spelling per byte of text, and one table lookup where no token starts.
class SpecialMatcher {
 public:
  struct Token {
    std::string_view text;
    int32_t id;
    bool is_control;
  };
  struct Match {
    size_t begin = 0;
    size_t length = 0;  // 0: nothing found
    int32_t id = 0;
  };

  // Among tokens spelled alike the one first in the list is found.
  explicit SpecialMatcher(const std::vector<Token>& tokens);

  // First match at or behind `from`. A control token counts only inside one of `control_ranges`,
  // ascending parts of the text.
  Match find(std::string_view text, size_t from, std::span<const TextRange> control_ranges) const;

 private:
  struct Node {
    int32_t control = -1;       // id of the control token spelled by the path to this node
    int32_t user_defined = -1;  // same for a token that is cut from any text
    uint32_t first_edge = 0;    // edges_[first_edge, + edge_count), ascending bytes
    uint32_t edge_count = 0;
  };
  struct Edge {
    uint8_t byte;
    uint32_t node;
  };
  const Node* follow(const Node& node, uint8_t byte) const;

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::array<bool, 256> starts_{};  // bytes that a token begins with
};

}  // namespace arion
