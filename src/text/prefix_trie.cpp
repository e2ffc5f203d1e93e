// Built level by level from the sorted keys.
#include "text/prefix_trie.h"

#include <algorithm>

namespace arion {

PrefixTrie::PrefixTrie(std::vector<Key> keys) {
  std::stable_sort(keys.begin(), keys.end(),
                   [](const Key& a, const Key& b) { return a.text < b.text; });
  // A node is a range of `keys` whose texts share the first `depth` bytes. The root comes first.
  struct Range {
    size_t begin, end, depth;
  };
  std::vector<Range> ranges = {{0, keys.size(), 0}};
  nodes_.emplace_back();
  for (size_t n = 0; n < ranges.size(); ++n) {
    auto [at, end, depth] = ranges[n];
    if (at < end && keys[at].text.size() == depth) nodes_[n].value = keys[at].value;
    while (at < end && keys[at].text.size() == depth) ++at;
    nodes_[n].first_edge = static_cast<uint32_t>(edges_.size());
    while (at < end) {
      const uint8_t byte = static_cast<uint8_t>(keys[at].text[depth]);
      size_t next = at;
      while (next < end && static_cast<uint8_t>(keys[next].text[depth]) == byte) ++next;
      edges_.push_back({byte, static_cast<int32_t>(nodes_.size())});
      nodes_.emplace_back();
      ++nodes_[n].edge_count;
      ranges.push_back({at, next, depth + 1});
      at = next;
    }
  }
  roots_.fill(-1);
  for (uint16_t i = 0; i < nodes_[0].edge_count; ++i) roots_[edges_[i].byte] = edges_[i].node;
}

}  // namespace arion
