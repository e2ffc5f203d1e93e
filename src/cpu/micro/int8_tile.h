// Quantised weights times int8 activations: R panels x T rows, the whole inner loop.
//
// One f32 accumulator per output, blocks of 32 columns in ascending order, per block
//   a        y = fma(d * a, float(sum q*c + z*neg_sum), y)
//   b, d32   y = fma(d * a, float(sum q*c), y);  y = fma(m, a * float(-neg_sum), y)
//            where d32 has d = d * s and m = -(dmin * m), both exact
//   d16      t = s0 * (sum q*c + z*neg_lo) + s1 * (sum q*c + z*neg_hi), exact;  y = fma(d * a, t,
//   y)
// with a the scale of the activations. Of b's two products the row-only one is made once per block
// of activations, which leaves four float operations per output and block.
#pragma once
#include "cpu/micro/dot.h"
#include "tensor/activation.h"

namespace arion::cpu::ARION_ISA {
namespace {

// What only activations decide, for one row group: per block 16 lanes by row, made by fill_terms.
union RowTerms {
  int32_t start[2][kTileRows];  // a: z * neg_sum in [0];  d16: z * neg_sum_half
  float sum[kTileRows];         // b, d32: a * float(-neg_sum)
};

template <Codec kCodec, ScaleMode kMode>
ARION_INLINE void fill_terms(const Int8Tile* tiles, int rows, int blocks, int zero,
                             RowTerms* terms) {
  const I32 offset = I32::set1(zero - kCodeBias<kCodec>);
  for (int b = 0; b < blocks; ++b) {
    if constexpr (kMode == ScaleMode::a) {
      (I32::load_first(tiles[b].neg_sum, rows) * offset).store(terms[b].start[0]);
    } else if constexpr (kMode == ScaleMode::d16) {
      for (int h = 0; h < 2; ++h) {
        (I32::load_first(tiles[b].neg_sum_half[h], rows) * offset).store(terms[b].start[h]);
      }
    } else {
      const F32 sum = to_f32(I32::zero() - I32::load_first(tiles[b].neg_sum, rows));
      (F32::load_first(tiles[b].scale, rows) * sum).store(terms[b].sum);
    }
  }
}

// Operands of one call. Rows are lanes lane .. lane + T - 1 of the tiles.
struct Int8TileArgs {
  const std::byte* panel;  // superblock of the first column; 64-byte aligned
  size_t panel_stride;     // to the next of the R panels
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
  const auto add = [&](int g, F32 t) ARION_INLINE_LAMBDA {
    acc[kRow + g] = fma(scales.d * F32::set1(rows.scale[kRow + g]), t, acc[kRow + g]);
  };
  if constexpr (kMode == ScaleMode::a) {
    start(rows.start);
    dot_rows<kCodec, 0, 8>(dot, v, q);
    static_for<G>([&](auto g) ARION_INLINE_LAMBDA { add(g, to_f32(dot[g])); });
  } else if constexpr (kMode == ScaleMode::d16) {
    // |s * dot| <= 128 * 16 * 32 * 127 < 2^23: products and sum are exact integers.
    F32 low[G];
    start(rows.start);
    dot_rows<kCodec, 0, 4>(dot, v, q);
    static_for<G>([&](auto g) ARION_INLINE_LAMBDA { low[g] = scales.s0 * to_f32(dot[g]); });
    start(rows.start + kTileRows);
    dot_rows<kCodec, 4, 4>(dot, v, q);
    static_for<G>([&](auto g)
                      ARION_INLINE_LAMBDA { add(g, fma(scales.s1, to_f32(dot[g]), low[g])); });
  } else {
    static_for<G>([&](auto g) ARION_INLINE_LAMBDA { dot[g] = I32::zero(); });
    dot_rows<kCodec, 0, 8>(dot, v, q);
    static_for<G>([&](auto g) ARION_INLINE_LAMBDA {
      add(g, to_f32(dot[g]));
      acc[kRow + g] = fma(scales.m, F32::set1(rows.sum[kRow + g]), acc[kRow + g]);
    });
  }
}

// Rows whose dots alternate: with the accumulators and codes they fit the 32 AVX-512 registers.
#if defined(ARION_ISA_avx512) || defined(ARION_ISA_avx512bf16)
template <ScaleMode kMode, int T>
inline constexpr int kAlternating = kMode == ScaleMode::d16 ? (T < 2 ? T : 2) : (T < 4 ? T : 4);
#else
template <ScaleMode kMode, int T>
inline constexpr int kAlternating = 1;
#endif

// Bytes a panel's stream is prefetched ahead; fewer streams must reach further to hide the memory.
template <int R>
inline constexpr size_t kPrefetchBytes = R >= 4 ? 1024 : 2048;

template <Codec kCodec, ScaleMode kMode, int R, int T>
ARION_NOINLINE void multiply_int8(const Int8TileArgs& args) {
  constexpr PanelSpec kSpec{kCodec, kMode, 0};
  constexpr int kBlocks = superblock_cols(kMode) / kBlockCols;
  constexpr size_t kSuperblock = superblock_bytes(kSpec);
  constexpr size_t kCodes = code_block_bytes(kCodec);

  F32 acc[R][T];
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
      acc[r][t] = args.is_first ? F32::zero() : F32::load(args.y + t * args.y_stride + r * kLanes);
    });
  });

  const std::byte* superblock = args.panel;
  const auto lane = static_cast<size_t>(args.lane);
  BlockRows rows{args.tiles->q[0] + lane * kTileCols, args.tiles->scale + lane,
                 args.terms->start[0] + lane, args.terms->sum + lane};
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
        unpack_codes<kCodec>(codes, v);
        const BlockScales scales = load_scales<kMode>(base, b);
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
