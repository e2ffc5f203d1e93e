// Encoders of blocks of 256 values in groups whose scales are small integers; byte for byte those
// of ggml.
#pragma once
#include <array>
#include <cstdint>

#include "quant/block_format.h"
#include "quant/code_search.h"

namespace arion {

inline constexpr int kBlock256 = 256;

// value = d*s*code - dmin*m, codes 0 .. search.max_code, s and m 0 .. max_scale.
struct KAffineRule {
  int group_size;  // 16 or 32
  int max_scale;
  AffineSearch search;  // without importance; max_code always
  float spread;         // with importance: this times the mean square is added to squares
};

struct KAffineBlock {
  uint16_t d = 0, dmin = 0;  // f16 bits
  std::array<uint8_t, 16> s{}, m{};
  std::array<uint8_t, kBlock256> codes{};
};

KAffineBlock encode_k_affine(const BlockSource& source, const KAffineRule& rule);

// value = d*s*(code - levels) in groups of 16, s = -max_scale .. max_scale - 1.
struct KSymmetricBlock {
  uint16_t d = 0;  // f16 bits
  std::array<int8_t, 16> s{};
  std::array<uint8_t, kBlock256> codes{};
};

KSymmetricBlock encode_q3_k(const BlockSource& source);
KSymmetricBlock encode_q6_k(const BlockSource& source);

// The twelve bytes of Q4_K and Q5_K with six bits of each s and m:
// bytes 0-3: s[0..3] and the top two bits of s[4..7]; bytes 4-7: the same of m;
// bytes 8-11: the low halves of s[4..7] and, in the high halves, of m[4..7].
void split_k_scales(const uint8_t (&bytes)[12], BlockParts& parts);
void join_k_scales(const KAffineBlock& block, uint8_t (&bytes)[12]);

}  // namespace arion
