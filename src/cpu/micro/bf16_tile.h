// bf16 weights times bf16 activations with VDPBF16PS: R panels x T rows, pairs of columns
// ascending.
#pragma once
#include "cpu/simd/simd.h"

namespace arion::cpu::ARION_ISA {
namespace {

struct Bf16TileArgs {
  const int32_t* weights;  // [cols / 2][16] pairs of bf16, of the first panel
  size_t panel_stride;     // pairs to the next of the R panels
  const std::byte* x;      // [T][cols] bf16
  size_t x_stride;         // bytes between rows
  int cols;
  float* y;         // [T][R * 16]
  size_t y_stride;  // floats between rows
  bool is_first;    // start from 0 instead of y
};

ARION_INLINE int32_t load_word(const std::byte* p) {
  int32_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return word;
}

ARION_INLINE F32 dot_pairs(F32 acc, I32 weights, int32_t pair) {
  return {_mm512_dpbf16_ps(acc.v, (__m512bh)I32::set1(pair).v, (__m512bh)weights.v)};
}

template <int R, int T>
ARION_NOINLINE void multiply_bf16(const Bf16TileArgs& args) {
  F32 acc[R][T];
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
      acc[r][t] = args.is_first ? F32::zero() : F32::load(args.y + t * args.y_stride + r * kLanes);
    });
  });
  const int32_t* weights = args.weights;
  const std::byte* x = args.x;
  const auto step = [&](int32_t mask) ARION_INLINE_LAMBDA {
    I32 w[R];
    static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
      const int32_t* from = weights + r * args.panel_stride;
      w[r] = I32::load(from);
      if constexpr (T <= 4) prefetch(from + 512);
    });
    static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
      const int32_t pair = load_word(x + t * args.x_stride) & mask;
      static_for<R>([&](auto r)
                        ARION_INLINE_LAMBDA { acc[r][t] = dot_pairs(acc[r][t], w[r], pair); });
    });
    weights += kLanes;
    x += 4;
  };
  for (int c = 0; c + 1 < args.cols; c += 2) step(-1);
  if (args.cols % 2 != 0) step(0xffff);  // what lies behind the last column must not be seen
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
      acc[r][t].store(args.y + t * args.y_stride + r * kLanes);
    });
  });
}

template <int R, int T>
ARION_INLINE void multiply_bf16_panels(const Bf16TileArgs& args, int panels) {
  Bf16TileArgs part = args;
  for (; panels >= R; panels -= R) {
    multiply_bf16<R, T>(part);
    part.weights += R * part.panel_stride;
    part.y += R * kLanes;
  }
  for (; panels > 0; --panels) {
    multiply_bf16<1, T>(part);
    part.weights += part.panel_stride;
    part.y += kLanes;
  }
}

// As many whole groups of T rows as there are.
template <int R, int T>
ARION_INLINE void multiply_bf16_rows(Bf16TileArgs& args, int& rows, int panels) {
  while (rows >= T) {
    multiply_bf16_panels<R, T>(args, panels);
    args.x += T * args.x_stride;
    args.y += T * args.y_stride;
    rows -= T;
  }
}

// Any number of rows and panels. 2 x 8: ten loads for sixteen products.
[[maybe_unused]] ARION_NOINLINE void multiply_bf16_any(Bf16TileArgs args, int rows, int panels) {
  multiply_bf16_rows<2, 8>(args, rows, panels);
  multiply_bf16_rows<4, 4>(args, rows, panels);
  multiply_bf16_rows<4, 2>(args, rows, panels);
  multiply_bf16_rows<4, 1>(args, rows, panels);
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
