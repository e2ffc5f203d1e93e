// exp and the gated activations, the same bits on every ISA level.
#pragma once
#include "cpu/simd/simd.h"

namespace arion::cpu::ARION_ISA {
namespace {

// e^x = 2^exponent y.
struct ExpParts {
  I32 exponent;
  F32 y;
};

// x = n ln 2 + r with |r| <= ln 2 / 2; e^r by its Taylor polynomial of degree 7 (next term 5e-9).
ARION_INLINE ExpParts exp_parts(F32 x) {
  const F32 magic = F32::set1(0x1.8p23f);  // adding it rounds to an integer held in the low bits
  const F32 shifted = fma(x, F32::set1(1.44269504f), magic);
  const F32 n = shifted - magic;
  // ln 2 in two parts; the high one has 15 significant bits, so that n * high is exact.
  F32 r = fma(n, F32::set1(-0x1.62e4p-1f), x);
  r = fma(n, F32::set1(-0x1.7f7d1cp-20f), r);
  F32 y = F32::set1(0x1.a01a02p-13f);         // 1/7!
  y = fma(y, r, F32::set1(0x1.6c16c2p-10f));  // 1/6!
  y = fma(y, r, F32::set1(0x1.111112p-7f));   // 1/5!
  y = fma(y, r, F32::set1(0x1.555556p-5f));   // 1/4!
  y = fma(y, r, F32::set1(0x1.555556p-3f));   // 1/3!
  y = fma(y, r, F32::set1(0.5f));
  y = fma(y, r, F32::set1(1.0f));
  y = fma(y, r, F32::set1(1.0f));
  return {bits(shifted) - bits(magic), y};
}

inline constexpr float kLeastExp = -87.3365f;  // below, the result would leave the normal range

// 2^exponent, exponent from -126 to 127.
ARION_INLINE F32 power_of_two(I32 exponent) {
  return from_bits(I32::set1(0x3f800000) + shl<23>(exponent));
}

// e^x within 1.1 ulp. Below kLeastExp 0, above 88.7228 +infinity, NaN stays NaN.
ARION_INLINE F32 exp(F32 x) {
  const ExpParts parts = exp_parts(min(F32::set1(89.0f), max(F32::set1(-88.0f), x)));
  // Two powers, because 2^128 is not a float.
  const I32 half = sar<1>(parts.exponent);
  F32 y = parts.y * power_of_two(half) * power_of_two(parts.exponent - half);
  y = select(less(x, F32::set1(kLeastExp)), F32::zero(), y);
  return select(less(F32::set1(88.7228f), x), from_bits(I32::set1(0x7f800000)), y);
}

// The same bits for x <= 0 and NaN.
ARION_INLINE F32 exp_nonpositive(F32 x) {
  const ExpParts parts = exp_parts(max(F32::set1(-88.0f), x));
  const F32 y = parts.y * power_of_two(parts.exponent);
  return select(less(x, F32::set1(kLeastExp)), F32::zero(), y);
}

ARION_INLINE F32 silu(F32 x) {
  return x / (F32::set1(1.0f) + exp(negate(x)));
}

// x * (1 + tanh(u)) / 2 = x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3).
ARION_INLINE F32 gelu_tanh(F32 x) {
  const F32 cube = x * x * x;
  const F32 u = F32::set1(0.7978845608f) * fma(F32::set1(0.044715f), cube, x);
  return x / (F32::set1(1.0f) + exp(F32::set1(-2.0f) * u));
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
