// Codes of E2M1, the four-bit numbers of MXFP4 and NVFP4.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "quant/quad.h"

namespace arion {

// The codes of CodeTable::fp4 whose values times `scale` are nearest to x; of two as near, the
// smaller magnitude. The length of x is a multiple of kQuadLanes.
inline void round_to_fp4(std::span<const float> x, float scale, uint8_t* codes) {
  constexpr std::array kMidpoints = {0.5f, 1.5f, 2.5f, 3.5f, 5.0f, 7.0f, 10.0f};
  for (size_t i = 0; i < x.size(); i += kQuadLanes) {
    const Quad value = load_quad(x.data() + i);
    const Quad size = magnitude(value);
    QuadMask code{};
    for (const float midpoint : kMidpoints) code -= size > Quad{} + midpoint * scale;
    code += (value < 0) & (code > 0) & 8;
    for (int k = 0; k < kQuadLanes; ++k) codes[i + k] = static_cast<uint8_t>(code[k]);
  }
}

}  // namespace arion
