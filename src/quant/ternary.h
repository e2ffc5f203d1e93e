// The encoder of TQ1_0 and TQ2_0.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/half.h"
#include "quant/block_format.h"
#include "quant/code_search.h"

namespace arion {

// Codes 0, 1, 2 of 256 values -d, 0, d, byte for byte as ggml's reference: d is the largest
// magnitude, halves are rounded away from zero, importance is ignored.
inline void encode_ternary(const BlockSource& source, uint16_t& d, uint8_t (&codes)[256]) {
  float largest = 0;
  for (int i = 0; i < 256; ++i) largest = std::max(largest, std::fabs(source.x[i]));
  const float inverse = largest == 0 ? 0 : 1 / largest;
  d = float_to_half(largest);
  for (int i = 0; i < 256; ++i) {
    codes[i] = static_cast<uint8_t>(truncated(std::round(source.x[i] * inverse)) + 1);
  }
}

}  // namespace arion
