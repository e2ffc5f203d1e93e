// f32 weights times f32 activations: R panels x T rows, one fma per product, columns ascending.
#pragma once
#include "cpu/simd/simd.h"

namespace arion::cpu::ARION_ISA {
namespace {

struct F32TileArgs {
  const float* weights;  // [cols][16] of the first panel
  size_t panel_stride;   // floats to the next of the R panels
  const float* x;        // [T][cols]
  size_t x_stride;       // floats between rows
  int cols;
  float* y;         // [T][R * 16]
  size_t y_stride;  // floats between rows
  bool is_first;    // start from 0 instead of y
};

template <int R, int T>
ARION_NOINLINE void multiply_f32(const F32TileArgs& args) {
  F32 acc[R][T];
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
      acc[r][t] = args.is_first ? F32::zero() : F32::load(args.y + t * args.y_stride + r * kLanes);
    });
  });
  const float* weights = args.weights;
  const float* x = args.x;
  for (int c = 0; c < args.cols; ++c, weights += kLanes, ++x) {
    F32 w[R];
    static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
      const float* from = weights + r * args.panel_stride;
      w[r] = F32::load(from);
      if constexpr (T <= 4) prefetch(from + 512);
    });
    static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
      const F32 value = F32::set1(x[t * args.x_stride]);
      static_for<R>([&](auto r) ARION_INLINE_LAMBDA { acc[r][t] = fma(w[r], value, acc[r][t]); });
    });
  }
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
      acc[r][t].store(args.y + t * args.y_stride + r * kLanes);
    });
  });
}

// Panels x rows of one call. 16 accumulators fill half of the AVX-512 registers, 4 a pair of ymm
// each half of the AVX2 ones.
#if defined(ARION_ISA_avx512) || defined(ARION_ISA_avx512bf16)
inline constexpr int kF32MaxRows = 8;
inline constexpr int kF32Panels = 2;
inline constexpr int kF32Streams = 4;  // panels beside 1 or 2 rows
#else
inline constexpr int kF32MaxRows = 4;
inline constexpr int kF32Panels = 1;
inline constexpr int kF32Streams = 2;
#endif

template <int R, int T>
ARION_INLINE void multiply_f32_panels(const F32TileArgs& args, int panels) {
  F32TileArgs part = args;
  for (; panels >= R; panels -= R) {
    multiply_f32<R, T>(part);
    part.weights += R * part.panel_stride;
    part.y += R * kLanes;
  }
  for (; panels > 0; --panels) {
    multiply_f32<1, T>(part);
    part.weights += part.panel_stride;
    part.y += kLanes;
  }
}

// As many whole groups of T rows as there are, for as many whole groups of R panels.
template <int R, int T>
ARION_INLINE void multiply_f32_rows(F32TileArgs& args, int& rows, int panels) {
  const int groups = rows / T;
  for (int p = 0; p < panels && groups > 0; p += R) {
    // A few panels stay in the L1 cache while the rows pass by.
    F32TileArgs part = args;
    part.weights += static_cast<size_t>(p) * part.panel_stride;
    part.y += p * kLanes;
    for (int g = 0; g < groups; ++g) {
      multiply_f32_panels<R, T>(part, panels - p < R ? panels - p : R);
      part.x += T * part.x_stride;
      part.y += T * part.y_stride;
    }
  }
  args.x += static_cast<size_t>(groups * T) * args.x_stride;
  args.y += static_cast<size_t>(groups * T) * args.y_stride;
  rows -= groups * T;
}

// Any number of rows and panels.
[[maybe_unused]] ARION_NOINLINE void multiply_f32_any(F32TileArgs args, int rows, int panels) {
  multiply_f32_rows<kF32Panels, kF32MaxRows>(args, rows, panels);
  if constexpr (kF32MaxRows > 4) multiply_f32_rows<kF32Panels, 4>(args, rows, panels);
  multiply_f32_rows<kF32Streams, 2>(args, rows, panels);
  multiply_f32_rows<kF32Streams, 1>(args, rows, panels);
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
