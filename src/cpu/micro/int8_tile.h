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

template <Codec kCodec, ScaleMode kMode>
ARION_INLINE F32 int8_block(F32 acc, const Bytes (&v)[8], const BlockScales& scales,
                            const Int8Tile& tile, const RowTerms& term, int row) {
  const int8_t* q = tile.q[row];
  const F32 a = F32::set1(tile.scale[row]);
  if constexpr (kMode == ScaleMode::a) {
    const I32 dot = dot_codes<kCodec, 0, 8>(I32::set1(term.start[0][row]), v, q);
    return fma(scales.d * a, to_f32(dot), acc);
  } else if constexpr (kMode == ScaleMode::d16) {
    const I32 low = dot_codes<kCodec, 0, 4>(I32::set1(term.start[0][row]), v, q);
    const I32 high = dot_codes<kCodec, 4, 4>(I32::set1(term.start[1][row]), v, q);
    // |s * dot| <= 128 * 16 * 32 * 127 < 2^23: product and sum are exact integers.
    const F32 t = fma(scales.s1, to_f32(high), scales.s0 * to_f32(low));
    return fma(scales.d * a, t, acc);
  } else {
    const I32 dot = dot_codes<kCodec, 0, 8>(I32::zero(), v, q);
    acc = fma(scales.d * a, to_f32(dot), acc);
    return fma(scales.m, F32::set1(term.sum[row]), acc);
  }
}

// Bytes a panel's stream is prefetched ahead: measured best for four streams per thread.
inline constexpr size_t kPrefetchBytes = 1024;

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
  const Int8Tile* tile = args.tiles;
  const RowTerms* term = args.terms;
  const int lane = args.lane;
  for (int left = args.blocks; left > 0; left -= kBlocks, superblock += kSuperblock) {
    const int blocks = left < kBlocks ? left : kBlocks;
    static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
      const std::byte* ahead = superblock + r * args.panel_stride + kPrefetchBytes;
      if constexpr (kBlocks <= 2) {
        for (size_t i = 0; i < kSuperblock; i += 64) prefetch(ahead + i);
      } else {
        for (size_t i = 0; i < scale_bytes(kMode); i += 64) prefetch(ahead + i);
      }
    });
    for (int b = 0; b < blocks; ++b, ++tile, ++term) {
      static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
        const std::byte* base = superblock + r * args.panel_stride;
        const std::byte* codes = base + scale_bytes(kMode) + kCodes * static_cast<size_t>(b);
        if constexpr (kBlocks > 2) {
          for (size_t i = 0; i < kCodes; i += 64) prefetch(codes + kPrefetchBytes + i);
        }
        Bytes v[8];
        unpack_codes<kCodec>(codes, v);
        const BlockScales scales = load_scales<kMode>(base, b);
        static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
          acc[r][t] = int8_block<kCodec, kMode>(acc[r][t], v, scales, *tile, *term, lane + t);
        });
      });
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
