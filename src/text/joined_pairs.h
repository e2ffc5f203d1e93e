// Which two symbols stand side by side in some token.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace arion {

// Two symbols that stand side by side in no token never end up in one, so a text is cut between
// them before it is merged. The set may err towards "joined" (64-bit hashes folded to 2^20 bits).
class JoinedPairs {
 public:
  void add(uint32_t left, uint32_t right) {
    bits_[word(left, right)] |= bit(left, right);
    if ((left | right) < kAscii) ascii_[left * kAscii + right] = true;
  }
  bool contains(uint32_t left, uint32_t right) const {
    if ((left | right) < kAscii) return ascii_[left * kAscii + right];
    return bits_[word(left, right)] & bit(left, right);
  }

 private:
  static uint64_t hash(uint32_t left, uint32_t right) {
    return (uint64_t{left} << 21 | right) * 0x9E3779B97F4A7C15 >> 44;
  }
  static size_t word(uint32_t left, uint32_t right) { return hash(left, right) / 64; }
  static uint64_t bit(uint32_t left, uint32_t right) { return 1ull << hash(left, right) % 64; }
  static constexpr size_t kAscii = 128;  // symbols that are characters mostly are below
  std::array<bool, kAscii * kAscii> ascii_{};
  std::vector<uint64_t> bits_ = std::vector<uint64_t>((1 << 20) / 64);
};

}  // namespace arion
