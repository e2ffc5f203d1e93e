// Construction and stepping of the automaton.
#include "text/stop_matcher.h"

#include <algorithm>

#include "base/error.h"

namespace arion {
namespace {

constexpr size_t kMaxStopBytes = 1 << 16;  // all strings together; bounds the automaton

}  // namespace

StopMatcher::StopMatcher(std::span<const std::string> stops) : nodes_(1) {
  size_t total = 0;
  for (const std::string& stop : stops) {
    if (stop.empty()) fail(ErrorCode::usage, "a stop string is empty, expected at least one byte");
    total += stop.size();
    if (total > kMaxStopBytes) {
      fail(ErrorCode::usage, "stop strings have more than {} bytes together", kMaxStopBytes);
    }
    insert(stop, static_cast<int32_t>(lengths_.size()));
    lengths_.push_back(stop.size());
  }
  link_fallbacks();
}

std::optional<uint32_t> StopMatcher::follow(uint32_t node, uint8_t byte) const {
  const auto& edges = nodes_[node].edges;
  const auto edge = std::lower_bound(edges.begin(), edges.end(), std::pair(byte, uint32_t{0}));
  if (edge == edges.end() || edge->first != byte) return std::nullopt;
  return edge->second;
}

void StopMatcher::insert(std::string_view text, int32_t index) {
  uint32_t node = 0;
  for (const char c : text) {
    const uint8_t byte = static_cast<uint8_t>(c);
    if (const auto next = follow(node, byte)) {
      node = *next;
      continue;
    }
    const uint32_t added = static_cast<uint32_t>(nodes_.size());
    auto& edges = nodes_[node].edges;
    edges.insert(std::lower_bound(edges.begin(), edges.end(), std::pair(byte, uint32_t{0})),
                 {byte, added});
    const uint32_t depth = nodes_[node].depth + 1;
    nodes_.emplace_back().depth = depth;
    node = added;
  }
  if (nodes_[node].stop < 0) nodes_[node].stop = index;
}

// Breadth first, so that the shorter suffixes are linked already.
void StopMatcher::link_fallbacks() {
  std::vector<uint32_t> order = {0};
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t node = order[i];
    for (const auto& [byte, child] : nodes_[node].edges) {
      order.push_back(child);
      if (node != 0) nodes_[child].fallback = step(nodes_[node].fallback, byte);
      // The node's own string is longer than any that ends at its fallback.
      if (nodes_[child].stop < 0) nodes_[child].stop = nodes_[nodes_[child].fallback].stop;
    }
  }
}

uint32_t StopMatcher::step(uint32_t node, uint8_t byte) const {
  while (true) {
    if (const auto next = follow(node, byte)) return *next;
    if (node == 0) return 0;
    node = nodes_[node].fallback;
  }
}

std::string StopMatcher::push(std::string_view bytes) {
  if (stop_) return {};
  for (const char c : bytes) {
    held_.push_back(c);
    node_ = step(node_, static_cast<uint8_t>(c));
    if (nodes_[node_].stop < 0) continue;
    stop_ = static_cast<size_t>(nodes_[node_].stop);
    held_.resize(held_.size() - lengths_[*stop_]);
    return finish();
  }
  const size_t safe = held_.size() - nodes_[node_].depth;
  std::string out = held_.substr(0, safe);
  held_.erase(0, safe);
  return out;
}

std::string StopMatcher::finish() {
  std::string out;
  out.swap(held_);
  node_ = 0;
  return out;
}

}  // namespace arion
