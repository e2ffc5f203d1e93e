// Philox4x32-10: a random number generator without state, a keyed function of a counter.
// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace arion {

// Four random words for (key, counter). Thread-safe.
inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// words[i] becomes the first word for `counter` with its second number i more (modulo 2^32). Uses
// vectors of at most `max_lanes` 64-bit lanes, as far as the machine has them. Thread-safe.
void philox_words(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key,
                  std::span<uint32_t> words, int max_lanes = 8);

}  // namespace arion
