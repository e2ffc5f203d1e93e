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

// With few rows the L2 cache has 1 KiB of a panel under way, with 8 the time of a block is longer
// and so is the distance: 4 KiB.
template <int T>
inline constexpr int kPrefetchPairs = T <= 4 ? 256 : 1024;

// Two columns of one row for all lanes, straight from memory: a broadcast from a general register
// would take a slot of the port that multiplies.
ARION_INLINE I32 broadcast_pair(const std::byte* p) {
  return {_mm512_castps_si512(_mm512_set1_ps(*reinterpret_cast<const float*>(p)))};
}

ARION_INLINE F32 dot_pairs(F32 acc, I32 weights, I32 pair) {
  return {_mm512_dpbf16_ps(acc.v, (__m512bh)pair.v, (__m512bh)weights.v)};
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
  const auto step = [&](auto is_last_odd) ARION_INLINE_LAMBDA {
    I32 w[R];
    static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
      const int32_t* from = weights + r * args.panel_stride;
      w[r] = I32::load(from);
      prefetch_l2(from + kPrefetchPairs<T>);
    });
    static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
      I32 pair = broadcast_pair(x + t * args.x_stride);
      // What lies behind the last column must not be seen.
      if constexpr (is_last_odd.value != 0) pair = pair & I32::set1(0xffff);
      static_for<R>([&](auto r)
                        ARION_INLINE_LAMBDA { acc[r][t] = dot_pairs(acc[r][t], w[r], pair); });
    });
    weights += kLanes;
    x += 4;
  };
  for (int c = 0; c + 1 < args.cols; c += 2) step(Index<0>{});
  if (args.cols % 2 != 0) step(Index<1>{});
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

// As many whole groups of T rows as there are, for as many whole groups of R panels.
template <int R, int T>
ARION_INLINE void multiply_bf16_rows(Bf16TileArgs& args, int& rows, int panels) {
  const int groups = rows / T;
  for (int p = 0; p < panels && groups > 0; p += R) {
    // A few panels stay in the L1 cache while the rows pass by.
    Bf16TileArgs part = args;
    part.weights += static_cast<size_t>(p) * part.panel_stride;
    part.y += p * kLanes;
    for (int g = 0; g < groups; ++g) {
      multiply_bf16_panels<R, T>(part, panels - p < R ? panels - p : R);
      part.x += T * part.x_stride;
      part.y += T * part.y_stride;
    }
  }
  args.x += static_cast<size_t>(groups * T) * args.x_stride;
  args.y += static_cast<size_t>(groups * T) * args.y_stride;
  rows -= groups * T;
}

// Any number of rows and panels. 2 x 8: ten loads for
// sixteen products.
[[maybe_unused]] ARION_NOINLINE void multiply_bf16_any(Bf16TileArgs args, int rows, int panels) {
  multiply_bf16_rows<2, 8>(args, rows, panels);
  multiply_bf16_rows<4, 4>(args, rows, panels);
  multiply_bf16_rows<4, 2>(args, rows, panels);
  multiply_bf16_rows<4, 1>(args, rows, panels);
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
