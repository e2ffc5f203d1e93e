// Root-mean-square normalisation of one vector, shared by norms of rows and of heads.
#pragma once
#include "cpu/simd/simd.h"

namespace arion::cpu::ARION_ISA {
namespace {

// 1 / sqrt(ss / count + eps) in all lanes, where lane i of `squares` holds the squares of the
// elements i, i + 16, ... in ascending order.
ARION_INLINE F32 inverse_rms(F32 squares, int count, float eps) {
  const float mean = reduce_add(squares) / static_cast<float>(count);
  return F32::set1(1.0f) / sqrt(F32::set1(mean + eps));
}

ARION_INLINE F32 inverse_rms(const float* x, int count, float eps) {
  F32 squares = F32::zero();
  int c = 0;
  for (; c + kLanes <= count; c += kLanes) {
    const F32 v = F32::load(x + c);
    squares = fma(v, v, squares);
  }
  if (c < count) {
    const F32 v = F32::load_first(x + c, count - c);
    squares = fma(v, v, squares);
  }
  return inverse_rms(squares, count, eps);
}

// x = (x * inverse) * gain
ARION_INLINE void scale_by_gain(float* x, F32 inverse, const float* gain, int count) {
  int c = 0;
  for (; c + kLanes <= count; c += kLanes) {
    ((F32::load(x + c) * inverse) * F32::load(gain + c)).store(x + c);
  }
  if (const int left = count - c; left > 0) {
    const F32 y = (F32::load_first(x + c, left) * inverse) * F32::load_first(gain + c, left);
    y.store_first(x + c, left);
  }
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
