// The encoder of TQ1_0 and TQ2_0.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "quant/block_format.h"
#include "quant/quad.h"

namespace arion {

// Codes 0, 1, 2 of 256 values -d, 0, d, byte for byte as ggml's reference: d is the largest
// magnitude, halves are rounded away from zero, importance is ignored.
inline void encode_ternary(const BlockSource& source, uint16_t& d, uint8_t (&codes)[256]) {
  const float largest = largest_magnitude(source.x, 256);
  const float inverse = largest == 0 ? 0 : 1 / largest;
  d = float_to_half(largest);
  for (int i = 0; i < 256; i += kQuadLanes) {
    const QuadMask steps = round_half_away(clamp(load_quad(source.x + i) * inverse, -1, 1)) + 1;
    for (int k = 0; k < kQuadLanes; ++k) codes[i + k] = static_cast<uint8_t>(steps[k]);
  }
}

}  // namespace arion
