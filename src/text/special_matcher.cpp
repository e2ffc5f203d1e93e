// Builds the trie from the sorted spellings, level by level.
#include "text/special_matcher.h"

#include <algorithm>
#include <string>

namespace arion {
namespace {

// End of the range that holds `at`, or 0.
size_t range_end(std::span<const TextRange> ranges, size_t at) {
  const auto range = std::upper_bound(ranges.begin(), ranges.end(), at,
                                      [](size_t value, TextRange r) { return value < r.end; });
  return range != ranges.end() && range->begin <= at ? range->end : 0;
}

}  // namespace

SpecialMatcher::SpecialMatcher(const std::vector<Token>& tokens) {
  std::vector<const Token*> sorted;
  for (const Token& token : tokens) {
    if (!token.text.empty()) sorted.push_back(&token);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Token* a, const Token* b) { return a->text < b->text; });
  // A node is a range of `sorted` whose texts share the first `depth` bytes.
  struct Range {
    size_t begin, end, depth;
  };
  std::vector<Range> ranges = {{0, sorted.size(), 0}};
  nodes_.emplace_back();
  for (size_t n = 0; n < ranges.size(); ++n) {
    auto [at, end, depth] = ranges[n];
    for (; at < end && sorted[at]->text.size() == depth; ++at) {
      int32_t& id = sorted[at]->is_control ? nodes_[n].control : nodes_[n].user_defined;
      if (id < 0) id = sorted[at]->id;
    }
    nodes_[n].first_edge = static_cast<uint32_t>(edges_.size());
    while (at < end) {
      const uint8_t byte = static_cast<uint8_t>(sorted[at]->text[depth]);
      size_t next = at;
      while (next < end && static_cast<uint8_t>(sorted[next]->text[depth]) == byte) ++next;
      edges_.push_back({byte, static_cast<uint32_t>(nodes_.size())});
      nodes_.emplace_back();
      ++nodes_[n].edge_count;
      ranges.push_back({at, next, depth + 1});
      if (depth == 0) starts_[byte] = true;
      at = next;
    }
  }
}

const SpecialMatcher::Node* SpecialMatcher::follow(const Node& node, uint8_t byte) const {
  const auto begin = edges_.begin() + node.first_edge;
  const auto end = begin + node.edge_count;
  const auto edge = std::lower_bound(begin, end, byte,
                                     [](const Edge& e, uint8_t value) { return e.byte < value; });
  return edge != end && edge->byte == byte ? &nodes_[edge->node] : nullptr;
}

SpecialMatcher::Match SpecialMatcher::find(std::string_view text, size_t from,
                                           std::span<const TextRange> control_ranges) const {
  for (size_t begin = from; begin < text.size(); ++begin) {
    if (!starts_[static_cast<uint8_t>(text[begin])]) continue;
    const size_t control_end = range_end(control_ranges, begin);
    Match match;
    const Node* node = &nodes_[0];
    for (size_t at = begin; at < text.size(); ++at) {
      node = follow(*node, static_cast<uint8_t>(text[at]));
      if (node == nullptr) break;
      const size_t length = at + 1 - begin;
      if (node->control >= 0 && at < control_end) {
        match = {begin, length, node->control};
      } else if (node->user_defined >= 0) {
        match = {begin, length, node->user_defined};
      }
    }
    if (match.length > 0) return match;
  }
  return {};
}

}  // namespace arion
