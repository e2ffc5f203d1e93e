// Encoders of the formats with 32 values and one or two f16 scales per block.
#pragma once
#include <cstdint>

#include "quant/block_format.h"

namespace arion {

// d and codes with zero point `zero` = 8 or 16; the value of largest magnitude gets code 0.
void encode_symmetric(const BlockSource& source, int zero, uint16_t& d, uint8_t (&codes)[32]);

// d, m and codes 0..max_code between the smallest and the largest value.
void encode_affine(const BlockSource& source, int max_code, uint16_t& d, uint16_t& m,
                   uint8_t (&codes)[32]);

}  // namespace arion
