// Quantised weights times int8 activations: R panels x T rows, the whole inner loop.
//
// One f32 accumulator per output, blocks of 32 columns in ascending order, per block
//   a, d32s, e32  y = fma(d * a, float(sum q*c + z*neg_sum), y)
//   b, d32        y = fma(d * a, float(sum q*c), y);  y = fma(m, a * float(-neg_sum), y)
//                 where d32 has d = d * s and m = -(dmin * m), both exact
//   d16, e16      t = s0 * (sum q*c + z*neg_lo) + s1 * (sum q*c + z*neg_hi);  y = fma(d * a, t, y)
//   d16m          t = s0 * sum q*c + s1 * sum q*c;  y = fma(d * a, t, y);
//                 y = fma(dmin * a, m0*neg_lo + m1*neg_hi, y)
// with a the scale of the activations (a stands for a64 and a128 too, e16 has d = 1). Sums of two
// halves are one fma: exact with integer scales, rounded once in e16. Of b's two products the
// row-only one is made once per block of activations, which leaves four float operations per output
// and block.
#pragma once
#include "cpu/micro/dot.h"
#include "tensor/activation.h"

namespace arion::cpu::ARION_ISA {
namespace {

// What only activations decide, for one row group: per block 16 lanes by row, made by fill_terms.
union RowTerms {
  int32_t start[2][kTileRows];   // a, d32s, e32: z * neg_sum in [0];  d16, e16: z * neg_sum_half
  float sum[kTileRows];          // b, d32: a * float(-neg_sum)
  float half_sum[2][kTileRows];  // d16m: float(neg_sum_half)
};

template <ScaleMode kMode>
inline constexpr bool kHasHalves =
    kMode == ScaleMode::d16 || kMode == ScaleMode::d16m || kMode == ScaleMode::e16;

template <Codec kCodec, ScaleMode kMode>
ARION_INLINE void fill_terms(const Int8Tile* tiles, int rows, int blocks, int zero,
                             RowTerms* terms) {
  const I32 offset = I32::set1(zero - kCodeBias<kCodec>);
  for (int b = 0; b < blocks; ++b) {
    if constexpr (kMode == ScaleMode::b || kMode == ScaleMode::d32) {
      const F32 sum = to_f32(I32::zero() - I32::load_first(tiles[b].neg_sum, rows));
      (F32::load_first(tiles[b].scale, rows) * sum).store(terms[b].sum);
    } else if constexpr (kHasHalves<kMode>) {
      for (int h = 0; h < 2; ++h) {
        const I32 sum = I32::load_first(tiles[b].neg_sum_half[h], rows);
        if constexpr (kMode == ScaleMode::d16m) {
          to_f32(sum).store(terms[b].half_sum[h]);
        } else {
          (sum * offset).store(terms[b].start[h]);
        }
      }
    } else {
      (I32::load_first(tiles[b].neg_sum, rows) * offset).store(terms[b].start[0]);
    }
  }
}

// Operands of one call. Rows are lanes lane .. lane + T - 1 of the tiles.
struct Int8TileArgs {
  const std::byte* panel;  // superblock of the first column; 64-byte aligned
  size_t panel_stride;     // to the next of the R panels
  CodeTable table;         // of table codecs
  const Int8Tile* tiles;   // [blocks]
  const RowTerms* terms;   // [blocks]
  int lane;
  int blocks;       // of 32 columns
  float* y;         // [T][R * 16]
  size_t y_stride;  // floats between rows
  bool is_first;    // start from 0 instead of y
};

// The first row of a call in one block; further rows lie at constant distances, so that the inner
// loop addresses all of them from three registers.
struct BlockRows {
  const int8_t* q;
  const float* scale;
  const int32_t* start;
  const float* sum;
};

// Sums over some of the vectors for G rows at once. The rows alternate, because a chain of eight
// dots takes 40 cycles: in row order the scheduler fills with instructions that wait.
template <Codec kCodec, int kBegin, int kCount, int G>
ARION_INLINE void dot_rows(I32 (&dot)[G], const Bytes (&v)[8], const int8_t* q) {
  if constexpr (G == 1) {
    dot[0] = dot_codes<kCodec, kBegin, kCount>(dot[0], v, q);
  } else {
    static_for<kCount>([&](auto k) ARION_INLINE_LAMBDA {
      static_for<G>([&](auto g) ARION_INLINE_LAMBDA {
        dot[g] = dot_codes<kCodec, kBegin + k, 1>(dot[g], v, q + g * kTileCols);
      });
    });
  }
}

// Adds one block to rows [kRow, kRow + G).
template <Codec kCodec, ScaleMode kMode, int kRow, int G>
ARION_INLINE void int8_block(F32* acc, const Bytes (&v)[8], const BlockScales& scales,
                             const BlockRows& rows) {
  const int8_t* q = rows.q + kRow * kTileCols;
  I32 dot[G];
  const auto start = [&](const int32_t* from) ARION_INLINE_LAMBDA {
    static_for<G>([&](auto g) ARION_INLINE_LAMBDA { dot[g] = I32::set1(from[kRow + g]); });
  };
  const auto start_at_zero = [&]() ARION_INLINE_LAMBDA {
    static_for<G>([&](auto g) ARION_INLINE_LAMBDA { dot[g] = I32::zero(); });
  };
  const auto add = [&](int g, F32 d, F32 t) ARION_INLINE_LAMBDA {
    acc[kRow + g] = fma(d * F32::set1(rows.scale[kRow + g]), t, acc[kRow + g]);
  };
  if constexpr (kHasHalves<kMode>) {
    // |s * dot| <= 128 * 16 * 32 * 127 < 2^23 in d16, less in d16m: products and sum are exact.
    constexpr bool kHasMin = kMode == ScaleMode::d16m;
    F32 low[G];
    kHasMin ? start_at_zero() : start(rows.start);
    dot_rows<kCodec, 0, 4>(dot, v, q);
    static_for<G>([&](auto g) ARION_INLINE_LAMBDA { low[g] = scales.s0 * to_f32(dot[g]); });
    kHasMin ? start_at_zero() : start(rows.start + kTileRows);
    dot_rows<kCodec, 4, 4>(dot, v, q);
    static_for<G>([&](auto g) ARION_INLINE_LAMBDA {
      add(g, scales.d, fma(scales.s1, to_f32(dot[g]), low[g]));
      if constexpr (kHasMin) {
        const F32 first = scales.m0 * F32::set1(rows.sum[kRow + g]);
        add(g, scales.m, fma(scales.m1, F32::set1(rows.sum[kTileRows + kRow + g]), first));
      }
    });
  } else if constexpr (kMode == ScaleMode::b || kMode == ScaleMode::d32) {
    start_at_zero();
    dot_rows<kCodec, 0, 8>(dot, v, q);
    static_for<G>([&](auto g) ARION_INLINE_LAMBDA {
      add(g, scales.d, to_f32(dot[g]));
      acc[kRow + g] = fma(scales.m, F32::set1(rows.sum[kRow + g]), acc[kRow + g]);
    });
  } else {
    start(rows.start);
    dot_rows<kCodec, 0, 8>(dot, v, q);
    static_for<G>([&](auto g) ARION_INLINE_LAMBDA { add(g, scales.d, to_f32(dot[g])); });
  }
}

// Rows whose dots alternate: with the accumulators and codes they fit the 32 AVX-512 registers.
#if defined(ARION_ISA_avx512)
template <ScaleMode kMode, int T>
inline constexpr int kAlternating = kHasHalves<kMode> ? (T < 2 ? T : 2) : (T < 4 ? T : 4);
#else
template <ScaleMode kMode, int T>
inline constexpr int kAlternating = 1;
#endif

// Bytes a panel's stream is prefetched ahead; fewer streams must reach further to hide the memory.
template <int R>
inline constexpr size_t kPrefetchBytes = R >= 4 ? 1024 : 2048;

template <Codec kCodec, ScaleMode kMode, int R, int T>
ARION_NOINLINE void multiply_int8(const Int8TileArgs& args) {
  constexpr int kBlocks = superblock_cols(kMode) / kBlockCols;
  constexpr size_t kSuperblock = superblock_bytes({kCodec, kMode});
  constexpr size_t kCodes = code_block_bytes(kCodec);

  F32 acc[R][T];
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
      acc[r][t] = args.is_first ? F32::zero() : F32::load(args.y + t * args.y_stride + r * kLanes);
    });
  });

  const TableArgs table = load_table<kCodec>(args.table);
  const std::byte* superblock = args.panel;
  const auto lane = static_cast<size_t>(args.lane);
  BlockRows rows{args.tiles->q[lane], args.tiles->scale + lane, args.terms->start[0] + lane,
                 args.terms->half_sum[0] + lane};
  for (int left = args.blocks; left > 0; left -= kBlocks, superblock += kSuperblock) {
    const int blocks = left < kBlocks ? left : kBlocks;
    static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
      const std::byte* ahead = superblock + r * args.panel_stride + kPrefetchBytes<R>;
      if constexpr (kBlocks <= 2) {
        for (size_t i = 0; i < kSuperblock; i += 64) prefetch(ahead + i);
      } else {
        for (size_t i = 0; i < scale_bytes(kMode); i += 64) prefetch(ahead + i);
      }
    });
    for (int b = 0; b < blocks; ++b) {
      static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
        const std::byte* base = superblock + r * args.panel_stride;
        const std::byte* codes = base + scale_bytes(kMode) + kCodes * static_cast<size_t>(b);
        if constexpr (kBlocks > 2) {
          for (size_t i = 0; i < kCodes; i += 64) prefetch(codes + kPrefetchBytes<R> + i);
        }
        Bytes v[8];
        unpack_codes<kCodec>(codes, table, v);
        const BlockScales scales = load_scales<kCodec, kMode>(base, b, table);
        constexpr int G = kAlternating<kMode, T>;
        static_for<T / G>([&](auto group) ARION_INLINE_LAMBDA {
          int8_block<kCodec, kMode, group.value * G, G>(acc[r], v, scales, rows);
        });
      });
      rows.q += sizeof(Int8Tile);
      rows.scale += sizeof(Int8Tile) / sizeof(float);
      rows.start += sizeof(RowTerms) / sizeof(int32_t);
      rows.sum += sizeof(RowTerms) / sizeof(float);
    }
  }

  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
      acc[r][t].store(args.y + t * args.y_stride + r * kLanes);
    });
  });
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
