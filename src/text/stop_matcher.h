// Watches a stream of bytes for stop strings and holds back what could be the start of one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace arion {

// Aho-Corasick automaton (1975) over bytes: cost per byte does not depend on the stop strings but
// for a binary search among at most 256 edges. Not thread-safe.
class StopMatcher {
 public:
  // Throws Error if a string is empty or all together are too long.
  explicit StopMatcher(std::span<const std::string> stops);

  // Takes the next bytes and returns those that are safe to show. Once a stop string is complete
  // the text before it has been returned and everything later is ignored.
  std::string push(std::string_view bytes);
  // The stream ended: what was held back.
  std::string finish();

  // Index of the stop string that was found; the longest if several end at the same byte.
  std::optional<size_t> stop() const { return stop_; }

 private:
  struct Node {
    uint32_t depth = 0;
    uint32_t fallback = 0;  // longest proper suffix that is a node too
    int32_t stop = -1;      // longest stop string that ends here, own or by fallback
    std::vector<std::pair<uint8_t, uint32_t>> edges;  // ascending bytes
  };
  std::optional<uint32_t> follow(uint32_t node, uint8_t byte) const;
  uint32_t step(uint32_t node, uint8_t byte) const;
  void insert(std::string_view text, int32_t index);
  void link_fallbacks();

  std::vector<Node> nodes_;
  std::vector<size_t> lengths_;  // of the stop strings
  uint32_t node_ = 0;
  std::string held_;  // seen, not returned: at least the depth of node_
  std::optional<size_t> stop_;
};

}  // namespace arion
