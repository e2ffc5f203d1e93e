// Nodes of strings have their numbers before longer strings come through them.
#include "text/symbol_trie.h"

#include <bit>
#include <random>

#include "base/check.h"

namespace arion {

SymbolTrie::SymbolTrie(uint32_t end)
    : end_(end), next_node_(end), edges_(1 << 10), shorter_(end, kNone) {
  shift_ = 64 - std::countr_zero(edges_.size());
  std::random_device device;
  multiplier_ = uint64_t{device()} << 32 | device() | 1;
}

uint32_t& SymbolTrie::child(uint32_t node, std::string_view string) {
  if (string.size() == 2) return pairs_[pair_index(string)];
  if (2 * (edge_count_ + 1) > edges_.size()) grow();
  const uint8_t byte = static_cast<uint8_t>(string.back());
  Edge& edge = edges_[place_of(node, byte)];
  edge_count_ += edge.key == kNone;
  edge.key = node << 8 | byte;
  return edge.node;
}

void SymbolTrie::grow() {
  decltype(edges_) old(2 * edges_.size());
  old.swap(edges_);
  --shift_;
  for (const Edge& edge : old) {
    if (edge.key != kNone) edges_[place_of(edge.key >> 8, edge.key & 255)] = edge;
  }
}

void SymbolTrie::add(std::string_view string, uint32_t number) {
  if (string.size() == 1) {
    bytes_[static_cast<uint8_t>(string[0])] = number;
    return;
  }
  uint32_t node = bytes_[static_cast<uint8_t>(string[0])];
  uint32_t shorter = node;
  for (size_t length = 2; length < string.size(); ++length) {
    uint32_t& next = child(node, string.substr(0, length));
    if (next == kNone) next = next_node_++;
    node = next;
    if (node < end_) shorter = node;
  }
  CHECK(next_node_ <= kMostNodes);
  child(node, string) = number;
  shorter_[number] = shorter;
}

}  // namespace arion
