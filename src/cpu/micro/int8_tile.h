// Quantised weights times int8 activations: R panels x T rows, the whole inner loop.
//
// One f32 accumulator per output, blocks of 32 columns in ascending order, per block
//   a, d32s, e32  y = fma(d * a, float(sum q*c + z*neg_sum), y)
//   b, d32        y = fma(d * a, float(sum q*c), y);  y = fma(m, a * float(-neg_sum), y)
//                 where d32 has d = d * s and m = -(dmin * m), both exact
//   e16           t = s0 * (sum q*c + z*neg_lo) + s1 * (sum q*c + z*neg_hi);  y = fma(d * a, t, y)
//   d16           the same t;  u = fma(a, t, u) from u = 0, and behind 8 blocks y = fma(d, u, y)
//   d16m          t = s0 * sum q*c + s1 * sum q*c;  y = fma(d * a, t, y);
//                 y = fma(dmin * a, m0*neg_lo + m1*neg_hi, y)
// with a the scale of the activations (a stands for a64 and a128 too, e16 has d = 1). Sums of two
// halves are one fma: exact with integer scales, rounded once in e16. Of b's two products the
// row-only one is made once per block of activations, which leaves four float operations per output
// and block. Multiplications count: they take the ports of the dots (Zen 4), additions do not.
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
  int32_t halves[kTileRows];     // d16m of 16-bit pairs: neg_sum_half
};

template <Codec kCodec, ScaleMode kMode>
ARION_INLINE void fill_terms(const Int8Tile* tiles, int rows, int blocks, int zero,
                             RowTerms* terms) {
  const I32 offset = I32::set1(zero - kCodeBias<kCodec>);
  for (int b = 0; b < blocks; ++b) {
    if constexpr (kMode == ScaleMode::b || kMode == ScaleMode::d32) {
      const F32 sum = to_f32(I32::zero() - I32::load_first(tiles[b].neg_sum, rows));
      (F32::load_first(tiles[b].scale, rows) * sum).store(terms[b].sum);
#if defined(ARION_ISA_avx512)
    } else if constexpr (kMode == ScaleMode::d16m) {
      const auto& halves = tiles[b].neg_sum_half;
      pair_halves(I32::load_first(halves[0], rows), I32::load_first(halves[1], rows))
          .store(terms[b].halves);
#endif
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
  size_t next_stride;      // from each of them to the one that the next call takes
  CodeTable table;         // of table codecs
  const Int8Tile* tiles;   // [blocks]
  const RowTerms* terms;   // [blocks]
  int lane;
  int blocks;       // of 32 columns
  float* y;         // [T][16] of the first panel
  size_t y_stride;  // floats between rows
  size_t y_panel;   // floats to the next of the R panels
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

// What the sum over the codes of one half, or of the whole block, begins with.
template <ScaleMode kMode>
ARION_INLINE I32 first_sum(const BlockRows& rows, int row, int half) {
  using enum ScaleMode;
  if constexpr (kMode == b || kMode == d32 || kMode == d16m) return I32::zero();
  return I32::set1(rows.start[half * kTileRows + row]);
}

// Modes whose accumulators are of one superblock, without its d.
template <ScaleMode kMode>
inline constexpr bool kDefersScale = kMode == ScaleMode::d16;

// Adds one block to the accumulator of a row: the sums of its halves or, in modes without them, of
// the whole block in sum[0].
template <Codec kCodec, ScaleMode kMode>
ARION_INLINE F32 add_block(F32 acc, const BlockScales& scales, const BlockRows& rows, int row,
                           const I32 (&sum)[2]) {
  const F32 scale = F32::set1(rows.scale[row]);
  const F32 unit = kDefersScale<kMode> ? scale : scales.d * scale;
  if constexpr (!kHasHalves<kMode>) {
    acc = fma(unit, to_f32(sum[0]), acc);
    if constexpr (kMode == ScaleMode::b || kMode == ScaleMode::d32) {
      acc = fma(scales.m, F32::set1(rows.sum[row]), acc);
    }
    return acc;
  }
#if defined(ARION_ISA_avx512)
  if constexpr (kPairsHalves<kCodec, kMode>) {
    const I32 both = dot2(pair_halves(sum[0], sum[1]), scales.s);
    acc = fma(unit, to_f32(both), acc);
    if constexpr (kMode == ScaleMode::d16m) {
      const I32 min = dot2(I32::set1(rows.start[row]), scales.mins);
      acc = fma(scales.m * scale, to_f32(min), acc);
    }
    return acc;
  }
#endif
  // |s * sum| <= 128 * 16 * 32 * 127 < 2^23 in d16, less in d16m: products and sum are exact.
  const F32 low = scales.s0 * to_f32(sum[0]);
  acc = fma(unit, fma(scales.s1, to_f32(sum[1]), low), acc);
  if constexpr (kMode == ScaleMode::d16m) {
    const F32 first = scales.m0 * F32::set1(rows.sum[row]);
    const F32 min = fma(scales.m1, F32::set1(rows.sum[kTileRows + row]), first);
    acc = fma(scales.m * scale, min, acc);
  }
  return acc;
}

// Adds one block to rows [kRow, kRow + G).
template <Codec kCodec, ScaleMode kMode, int kRow, int G>
ARION_INLINE void int8_block(F32* acc, const Bytes (&v)[8], const BlockScales& scales,
                             const BlockRows& rows) {
  const int8_t* q = rows.q + kRow * kTileCols;
  constexpr int kVectors = kHasHalves<kMode> ? 4 : 8;
  I32 dot[8 / kVectors][G];
  static_for<8 / kVectors>([&](auto half) ARION_INLINE_LAMBDA {
    static_for<G>(
        [&](auto g) ARION_INLINE_LAMBDA { dot[half][g] = first_sum<kMode>(rows, kRow + g, half); });
    dot_rows<kCodec, half * kVectors, kVectors>(dot[half], v, q);
  });
  static_for<G>([&](auto g) ARION_INLINE_LAMBDA {
    acc[kRow + g] = add_block<kCodec, kMode>(acc[kRow + g], scales, rows, kRow + g,
                                             {dot[0][g], dot[8 / kVectors - 1][g]});
  });
}

// Rows whose dots alternate: with the accumulators and codes they fit the 32 AVX-512 registers.
#if defined(ARION_ISA_avx512)
template <ScaleMode kMode, int T>
inline constexpr int kAlternating = kHasHalves<kMode> ? (T < 2 ? T : 2) : (T < 4 ? T : 4);
#else
template <ScaleMode kMode, int T>
inline constexpr int kAlternating = 1;
#endif

// How the stream of a panel is prefetched. On AVX-512 to the L2 cache only: of that a core can have
// more lines under way than its L1 cache has miss buffers (on Zen 4 with one row 90 % of the read
// bandwidth instead of 52 %, with 16 rows of 8-bit codes 71 % of the peak instead of 64 %).
#if defined(ARION_ISA_avx512)
inline constexpr bool kPrefetchesToL2 = true;
#else
inline constexpr bool kPrefetchesToL2 = false;
#endif

// Few rows of codes that unpack at once follow the memory so closely that a shorter distance is
// best; with many rows, blocks that are large themselves want a longer one.
template <Codec kCodec, int T>
constexpr size_t prefetch_distance() {
  using enum Codec;
  if (!kPrefetchesToL2) return 2048;
  if (kCodec == c8) return T <= 4 ? 1024 : 4096;
  if (kCodec == c6 && T >= 8) return 4096;
  return (kCodec == c4 || kCodec == t4) && T <= 2 ? 1024 : 2048;
}
template <Codec kCodec, int T>
inline constexpr size_t kPrefetchAhead = prefetch_distance<kCodec, T>();

//   ahead  kPrefetchAhead after the bytes in work or, at the end of a call, as many bytes after
//          the beginning of the panel whose turn is next
ARION_INLINE void prefetch_stream(const std::byte* ahead, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) {
    kPrefetchesToL2 ? prefetch_l2(ahead + i) : prefetch(ahead + i);
  }
}

// Adds one block of one panel to T rows.
template <Codec kCodec, ScaleMode kMode, int T>
ARION_INLINE void separate_block(F32 (&acc)[T], const std::byte* base, size_t ahead, int block,
                                 const TableArgs& table, const BlockRows& rows) {
  constexpr size_t kCodes = code_block_bytes(kCodec);
  const std::byte* codes = base + scale_bytes(kMode) + kCodes * static_cast<size_t>(block);
  prefetch_stream(codes + ahead, kCodes);
  Bytes v[8];
  unpack_codes<kCodec, 0>(codes, table, v);
  const BlockScales scales = load_scales<kCodec, kMode>(base, block, table);
  constexpr int G = kAlternating<kMode, T>;
  static_for<T / G>([&](auto group) ARION_INLINE_LAMBDA {
    int8_block<kCodec, kMode, group.value * G, G>(acc, v, scales, rows);
  });
}

#if defined(ARION_ISA_avx512)
// Where codes are bytes already, loading them is the work, and the order of the stream is best.
template <Codec kCodec, int R, int T>
inline constexpr bool kSharesQuads = R > 1 && T <= 2 && kCodec != Codec::c8;

// Adds one block to R panels x T rows half by half, so that a broadcast of four activations serves
// all panels: with few rows the load ports are the limit, not the multipliers.
//   base   the superblocks of the panels lie panel_stride bytes apart from here
//   ahead  distance of what is prefetched
template <Codec kCodec, ScaleMode kMode, int R, int T>
ARION_INLINE void shared_block(F32 (&acc)[R][T], const std::byte* base, size_t panel_stride,
                               size_t ahead, int block, const TableArgs& table,
                               const BlockRows& rows) {
  constexpr size_t kCodes = code_block_bytes(kCodec);
  constexpr bool kSplits = kHasHalves<kMode>;
  const std::byte* codes = base + scale_bytes(kMode) + kCodes * static_cast<size_t>(block);
  I32 sum[R][T][2];
  static_for<2>([&](auto half) ARION_INLINE_LAMBDA {
    I32 quads[T][4];
    static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
      static_for<4>([&](auto k) ARION_INLINE_LAMBDA {
        quads[t][k] = broadcast_quad(rows.q + t * kTileCols + 16 * half + 4 * k);
      });
    });
    static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
      const std::byte* of = codes + r * panel_stride;
      if constexpr (half == 0) prefetch_stream(of + ahead, kCodes);
      Bytes v[4];
      unpack_codes<kCodec, 4 * half>(of, table, v);
      static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
        I32& dot = sum[r][t][kSplits ? half.value : 0];
        if constexpr (kSplits || half == 0) dot = first_sum<kMode>(rows, t, half);
        static_for<4>([&](auto k) ARION_INLINE_LAMBDA { dot = dot4(dot, v[k], quads[t][k]); });
      });
    });
  });
  static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
    const BlockScales scales = load_scales<kCodec, kMode>(base + r * panel_stride, block, table);
    static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
      acc[r][t] = add_block<kCodec, kMode>(acc[r][t], scales, rows, t, sum[r][t]);
    });
  });
}
#else
template <Codec kCodec, int R, int T>
inline constexpr bool kSharesQuads = false;
#endif

template <Codec kCodec, ScaleMode kMode, int R, int T>
ARION_NOINLINE void multiply_int8(const Int8TileArgs& args) {
  constexpr int kBlocks = superblock_cols(kMode) / kBlockCols;
  constexpr size_t kSuperblock = superblock_bytes({kCodec, kMode});
  constexpr size_t kCodes = code_block_bytes(kCodec);

  F32 acc[R][T];
  const auto for_each = [&](auto f) ARION_INLINE_LAMBDA {
    static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
      static_for<T>([&](auto t) ARION_INLINE_LAMBDA {
        f(r, t, args.y + t * args.y_stride + r * args.y_panel);
      });
    });
  };
  if constexpr (!kDefersScale<kMode>) {
    for_each([&](auto r, auto t, const float* y)
                 ARION_INLINE_LAMBDA { acc[r][t] = args.is_first ? F32::zero() : F32::load(y); });
  }

  const TableArgs table = load_table<kCodec>(args.table);
  const std::byte* superblock = args.panel;
  // From the end of these columns to their beginning in the panels of the next call.
  const size_t to_next =
      args.next_stride - static_cast<size_t>((args.blocks + kBlocks - 1) / kBlocks) * kSuperblock;
  const auto lane = static_cast<size_t>(args.lane);
  BlockRows rows{args.tiles->q[lane], args.tiles->scale + lane, args.terms->start[0] + lane,
                 args.terms->half_sum[0] + lane};
  for (int left = args.blocks; left > 0; left -= kBlocks, superblock += kSuperblock) {
    const int blocks = left < kBlocks ? left : kBlocks;
    const bool is_near_end = static_cast<size_t>(left) * kCodes <= kPrefetchAhead<kCodec, T>;
    const size_t ahead = kPrefetchAhead<kCodec, T> + (is_near_end ? to_next : 0);
    static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
      prefetch_stream(superblock + r * args.panel_stride + ahead, scale_bytes(kMode));
    });
    if constexpr (kDefersScale<kMode>) {
      for_each([&](auto r, auto t, float*) ARION_INLINE_LAMBDA { acc[r][t] = F32::zero(); });
    }
    for (int b = 0; b < blocks; ++b) {
      if constexpr (kSharesQuads<kCodec, R, T>) {
        shared_block<kCodec, kMode>(acc, superblock, args.panel_stride, ahead, b, table, rows);
      } else {
        static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
          separate_block<kCodec, kMode>(acc[r], superblock + r * args.panel_stride, ahead, b, table,
                                        rows);
        });
      }
      rows.q += sizeof(Int8Tile);
      rows.scale += sizeof(Int8Tile) / sizeof(float);
      rows.start += sizeof(RowTerms) / sizeof(int32_t);
      rows.sum += sizeof(RowTerms) / sizeof(float);
    }
    if constexpr (kDefersScale<kMode>) {
      const bool is_first = args.is_first && left == args.blocks;
      F32 d[R];
      static_for<R>([&](auto r) ARION_INLINE_LAMBDA {
        d[r] = load_scale<kCodec, kMode>(superblock + r * args.panel_stride, 0, table);
      });
      for_each([&](auto r, auto t, float* y) ARION_INLINE_LAMBDA {
        fma(d[r], acc[r][t], is_first ? F32::zero() : F32::load(y)).store(y);
      });
    }
  }

  if constexpr (!kDefersScale<kMode>) {
    for_each([&](auto r, auto t, float* y) ARION_INLINE_LAMBDA { acc[r][t].store(y); });
  }
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
