// Scales of Q4_K and Q5_K: per 256 values f16 d and dmin, per 32 values 6-bit s and m;
// value = d*s*code - dmin*m.
#pragma once
#include <array>
#include <cstdint>

#include "quant/block_format.h"
#include "quant/code_search.h"

namespace arion {

struct KScales {
  uint16_t d = 0, dmin = 0;  // f16 bits
  std::array<uint8_t, 8> s{}, m{};
};

// Bytes 0-3: s[0..3] and the top two bits of s[4..7]; bytes 4-7: the same of m;
// bytes 8-11: the low halves of s[4..7] and, in the high halves, of m[4..7].
void split_k_scales(const uint8_t (&bytes)[12], BlockParts& parts);
void join_k_scales(const KScales& scales, uint8_t (&bytes)[12]);

// Scales and codes 0..max_code of 256 values; `sweep` is used where there is no importance.
KScales encode_k_block(const BlockSource& source, int max_code, const Sweep& sweep,
                       uint8_t (&codes)[256]);

}  // namespace arion
