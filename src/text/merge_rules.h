// Which two symbols merge into which, and in what order.
#pragma once
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "text/merge.h"

namespace arion {

// A hash table from pairs of symbols. Reading is thread-safe.
class MergeRules {
 public:
  explicit MergeRules(size_t count)
      : rules_(std::bit_ceil(2 * count + 2), Rule{kNoPair, {}}),
        shift_(64 - std::countr_zero(rules_.size())),
        multiplier_(uint64_t{std::random_device()()} << 32 | std::random_device()() | 1) {}

  // At most `count` different pairs. Of two rules for a pair the first one counts.
  void add(int32_t left, int32_t right, Merge merge) {
    Rule& rule = rules_[find_place(left, right)];
    if (rule.pair == kNoPair) rule = {pair_of(left, right), merge};
  }
  Merge find(int32_t left, int32_t right) const {
    const Rule& rule = rules_[find_place(left, right)];
    return rule.pair == kNoPair ? Merge{} : rule.merge;
  }

 private:
  static constexpr uint64_t kNoPair = UINT64_MAX;

  struct Rule {
    uint64_t pair;
    Merge merge;
  };
  static uint64_t pair_of(int32_t left, int32_t right) {
    return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
  }
  // Of the pair or of the free rule where it belongs.
  size_t find_place(int32_t left, int32_t right) const {
    const uint64_t pair = pair_of(left, right);
    size_t at = pair * multiplier_ >> shift_;
    while (rules_[at].pair != kNoPair && rules_[at].pair != pair) {
      at = (at + 1) & (rules_.size() - 1);
    }
    return at;
  }

  std::vector<Rule> rules_;  // open addressing; size is a power of two, at most half full
  int shift_;                // 64 - log2 of the size: multiplicative hashing takes the top bits
  uint64_t multiplier_;      // odd, random, so that no file can prepare collisions
};

}  // namespace arion
