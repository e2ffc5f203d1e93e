// The eight-bit scales of MXFP4 and NVFP4. Both halve the scale, because the codes they multiply
// are doubled (CodeTable::fp4).
// Source: OCP Microscaling Formats specification 1.0 (E8M0, E4M3).
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace arion {

// 2^(e - 128), half the E8M0 number e; subnormal for 0 and 1.
inline float half_e8m0(uint8_t e) {
  return std::bit_cast<float>(e < 2 ? uint32_t{0x00200000} << e : uint32_t{e - 1u} << 23);
}

// Half the E4M3 number x, 0 .. 127, without a sign and without the code for NaN.
inline float half_ue4m3(uint8_t x) {
  const int exponent = x >> 3, mantissa = x & 7;
  if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10f;
  const uint32_t bits =
      static_cast<uint32_t>(exponent + 119) << 23 | static_cast<uint32_t>(mantissa) << 20;
  return std::bit_cast<float>(bits);
}

// The E4M3 number nearest to x >= 0, as half_ue4m3 takes it: at most 448.
inline uint8_t nearest_ue4m3(float x) {
  uint8_t best = 0;
  for (uint8_t code = 1; code < 127; ++code) {
    if (std::fabs(2 * half_ue4m3(code) - x) < std::fabs(2 * half_ue4m3(best) - x)) best = code;
  }
  return best;
}

}  // namespace arion
