// Which two symbols stand side by side in some token.
#pragma once
#include <cstdint>
#include <vector>

namespace arion {

// Two symbols that stand side by side in no token never end up in one, so a text is cut between
// them before it is merged. The set may err towards "joined" (64-bit hashes folded to 2^20 bits).
class JoinedPairs {
 public:
  void add(uint32_t left, uint32_t right) { bits_[word(left, right)] |= bit(left, right); }
  bool contains(uint32_t left, uint32_t right) const {
    return bits_[word(left, right)] & bit(left, right);
  }

 private:
  static uint64_t hash(uint32_t left, uint32_t right) {
    return (uint64_t{left} << 21 | right) * 0x9E3779B97F4A7C15 >> 44;
  }
  static size_t word(uint32_t left, uint32_t right) { return hash(left, right) / 64; }
  static uint64_t bit(uint32_t left, uint32_t right) { return 1ull << hash(left, right) % 64; }
  std::vector<uint64_t> bits_ = std::vector<uint64_t>((1 << 20) / 64);
};

}  // namespace arion
