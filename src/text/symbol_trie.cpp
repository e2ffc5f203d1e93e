// Places nodes level by level: those near the root, which all texts use, lie close together.
#include "text/symbol_trie.h"

#include <algorithm>
#include <deque>

#include "base/check.h"

namespace arion {

class SymbolTrie::Builder {
 public:
  explicit Builder(std::vector<Key> keys) : keys_(std::move(keys)) {
    std::sort(keys_.begin(), keys_.end(),
              [](const Key& a, const Key& b) { return a.text < b.text; });
    uint32_t end = 0;
    for (const Key& key : keys_) end = std::max(end, key.number + 1);
    symbols_.resize(end);
    for (const Key& key : keys_)
      symbols_[key.number].length = static_cast<uint32_t>(key.text.size());
    // A leaf has the base 0, so units of two bytes say nothing that a look from there expects.
    for (uint32_t i = 0; i < 256; ++i) units_[i].node = ~i & 255;
  }

  std::optional<SymbolTrie> build() {
    add_short_keys();
    for (; !nodes_.empty(); nodes_.pop_front()) {
      if (!place_children(nodes_.front())) return std::nullopt;
    }
    fill_free_units();
    return SymbolTrie({units_.begin(), units_.end()}, std::move(bytes_), std::move(symbols_));
  }

 private:
  static constexpr uint32_t kPairs = 1 << 16, kBlock = 256, kTaken = kNone - 1;

  // Keys [begin, end) share their first `depth` bytes, which lead to `unit`.
  struct Node {
    uint32_t begin, end, depth, unit;
    uint32_t shorter;  // number of the last symbol on the way
  };
  struct Child {
    uint8_t byte;
    uint32_t begin;  // of keys_
  };

  void add_short_keys() {
    for (uint32_t begin = 0, end; begin < keys_.size(); begin = end) {
      const std::string_view text = keys_[begin].text.substr(0, 2);
      for (end = begin + 1; end < keys_.size(); ++end) {
        if (keys_[end].text.substr(0, 2) != text) break;
      }
      const uint8_t first = static_cast<uint8_t>(text[0]);
      if (text.size() == 1) {
        bytes_[first] = keys_[begin].number;
      } else {
        const uint32_t unit = uint32_t{first} << 8 | static_cast<uint8_t>(text[1]);
        nodes_.push_back({begin, end, 2, unit, bytes_[first]});
      }
    }
  }

  bool place_children(Node node) {
    if (keys_[node.begin].text.size() == node.depth) {
      const uint32_t number = keys_[node.begin].number;
      units_[node.unit].node |= kIsSymbol;
      units_[node.unit].number = number;
      symbols_[number].shorter = node.shorter;
      node.shorter = number;
      if (++node.begin == node.end) return true;
    }
    children_.clear();
    for (uint32_t i = node.begin; i < node.end; ++i) {
      const uint8_t byte = static_cast<uint8_t>(keys_[i].text[node.depth]);
      if (children_.empty() || children_.back().byte != byte) children_.push_back({byte, i});
    }
    const uint32_t base = find_base();
    if (units_.size() > kMostUnits) return false;
    has_base_[base] = true;
    units_[node.unit].node |= base << kBaseShift;
    for (size_t i = 0; i < children_.size(); ++i) {
      const auto [byte, begin] = children_[i];
      const uint32_t end = i + 1 < children_.size() ? children_[i + 1].begin : node.end;
      const uint32_t unit = base ^ byte;
      take(unit);
      units_[unit].node = byte;
      nodes_.push_back({begin, end, node.depth + 1, unit, node.shorter});
    }
    return true;
  }

  // Where all children go to free units: near the first free ones, or else in a new block.
  uint32_t find_base() {
    constexpr int kTries = 64, kGivenUp = 8;
    int tries = 0;
    for (uint32_t unit = first_free_; unit != kNone && tries < kTries; unit = next_[unit]) {
      const uint32_t base = unit ^ children_[0].byte;
      const auto is_free = [&](const Child& child) { return next_[base ^ child.byte] != kTaken; };
      if (!has_base_[base] && std::ranges::all_of(children_, is_free)) return base;
      ++tries;
    }
    // The first ones are hard to use: without this every later search would try them again.
    for (int i = 0; tries == kTries && i < kGivenUp; ++i) take(first_free_, false);
    return add_block();
  }

  uint32_t add_block() {
    const uint32_t begin = static_cast<uint32_t>(units_.size());
    const size_t end = begin + kBlock;
    units_.resize(end);
    has_base_.resize(end);
    next_.resize(end, kNone);
    previous_.resize(end, kNone);
    for (uint32_t unit = begin; unit < end; ++unit) {
      previous_[unit] = last_free_;
      (last_free_ == kNone ? first_free_ : next_[last_free_]) = unit;
      last_free_ = unit;
    }
    return begin;
  }

  // Out of the list of free units; those that are not used stay free for nodes of several children.
  void take(uint32_t unit, bool is_used = true) {
    const bool is_listed = first_free_ == unit || previous_[unit] != kNone;
    const uint32_t before = previous_[unit], behind = next_[unit];
    if (is_listed) {
      (before == kNone ? first_free_ : next_[before]) = behind;
      (behind == kNone ? last_free_ : previous_[behind]) = before;
    }
    previous_[unit] = kNone;
    next_[unit] = is_used ? kTaken : kNone;
  }

  // A free unit names the byte that leads to it from a base that no node has. There is one: each
  // base of a block takes one of its units at least.
  void fill_free_units() {
    for (uint32_t block = kPairs; block < units_.size(); block += kBlock) {
      uint32_t base = block;
      while (base < block + kBlock && has_base_[base]) ++base;
      for (uint32_t unit = block; unit < block + kBlock; ++unit) {
        if (next_[unit] == kTaken) continue;
        CHECK(base < block + kBlock);
        units_[unit].node = unit ^ base;
      }
    }
  }

  std::vector<Key> keys_;
  std::deque<Node> nodes_;  // to be done
  std::vector<Child> children_;
  std::vector<Unit> units_ = std::vector<Unit>(kPairs);
  std::vector<uint32_t> bytes_ = std::vector<uint32_t>(256, kNone);
  std::vector<Symbol> symbols_;
  std::vector<bool> has_base_ = std::vector<bool>(kPairs);
  // A list of free units, linked both ways; kTaken for the others.
  std::vector<uint32_t> next_ = std::vector<uint32_t>(kPairs, kTaken);
  std::vector<uint32_t> previous_ = std::vector<uint32_t>(kPairs, kNone);
  uint32_t first_free_ = kNone, last_free_ = kNone;
};

std::optional<SymbolTrie> SymbolTrie::make(std::vector<Key> keys) {
  return Builder(std::move(keys)).build();
}

}  // namespace arion
