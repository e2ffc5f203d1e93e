// Encoders of the formats with 32 values and one or two f16 scales per block.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "quant/block_format.h"

namespace arion {

inline constexpr int kRoundedValues = 32;

// A run of up to kBlockRun blocks.
struct RoundedBlocks {
  std::array<uint16_t, kBlockRun> d, m;  // f16 bits
  std::array<uint8_t, kBlockRun * kRoundedValues> codes;
};

// d and codes with zero point `zero` = 8 or 16; the value of largest magnitude gets code 0.
RoundedBlocks encode_symmetric(const BlockSource& source, size_t count, int zero);

// d, m and codes 0..max_code between the smallest and the largest value.
RoundedBlocks encode_affine(const BlockSource& source, size_t count, int max_code);

}  // namespace arion
