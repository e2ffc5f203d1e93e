// Takes the codes and scales of one block (16 rows x 32 columns) out of a panel, see quant/panel.h.
#pragma once
#include "cpu/simd/simd.h"
#include "quant/panel.h"

namespace arion::cpu::ARION_ISA {
namespace {

inline constexpr int kBlockCols = 32;

// The pairs of codec and scale mode that formats use, those with scales: kernels exist for these.
// clang-format off
#define ARION_PANEL_KINDS(X) X(c1, a128) X(c2, a64) X(c2, a128) X(c4, a) X(c5, a) X(c8, a) \
  X(t4, a) X(c4, b) X(c5, b) X(c3, d16) X(c6, d16) X(t3, d16) X(c2, d16m) X(c4, d32) X(c5, d32) \
  X(t3, d32s) X(t4, d32s) X(t4, e16) X(t4, e32)
// clang-format on

// vpmaddubsw would saturate on 8-bit codes, so AVX2 keeps them as signed bytes code - 128.
#if defined(ARION_ISA_avx2)
template <Codec kCodec>
inline constexpr int kCodeBias = kCodec == Codec::c8 || is_table(kCodec) ? 128 : 0;
#else
template <Codec kCodec>
inline constexpr int kCodeBias = 0;
#endif

// What a table codec needs besides the panel: constant over a matrix, the same in every row.
struct TableArgs {
  Bytes values;  // as unpack_codes gives them: value + 128 - kCodeBias, four times
  F32 unit;
};

// For other codecs nothing that is used.
template <Codec kCodec>
ARION_INLINE TableArgs load_table(CodeTable table) {
  TableArgs args{Bytes::set1(0), F32::zero()};
  if constexpr (is_table(kCodec)) {
    const CodeValues& of = kCodeTables[static_cast<size_t>(table)];
    args.values = Bytes::repeat16(of.value.data());
    if constexpr (kCodeBias<kCodec> == 0) args.values = args.values ^ Bytes::set1(0x80);
    args.unit = F32::set1(of.unit);
  }
  return args;
}

// v moved by kBits towards the high end of each byte, then masked.
template <int kBits>
ARION_INLINE Bytes move_and(Bytes v, Bytes mask) {
  if constexpr (kBits > 0) return shl_and<kBits>(v, mask);
  if constexpr (kBits < 0) return shr_and<-kBits>(v, mask);
  return v & mask;
}

// Takes kBits bits of the codes of vectors [kBegin, kBegin + N) out of the kBits lines that hold
// those of eight vectors and moves them to kShift: added to v, or v itself.
template <int kShift, int kBits, bool kAdds, int kBegin, int N>
ARION_INLINE void unpack_bits(const std::byte* lines, Bytes (&v)[N]) {
  constexpr int kPerLine = 8 / kBits;
  constexpr int kFirstLine = kBegin / kPerLine, kEndLine = (kBegin + N - 1) / kPerLine + 1;
  const Bytes mask = Bytes::set1(((1 << kBits) - 1) << kShift);
  static_for<kEndLine - kFirstLine>([&](auto i) ARION_INLINE_LAMBDA {
    constexpr int kLine = kFirstLine + i.value;
    const Bytes line = Bytes::load_once(lines + 64 * kLine);
    static_for<kPerLine>([&](auto t) ARION_INLINE_LAMBDA {
      constexpr int q = kLine * kPerLine + t.value - kBegin;
      if constexpr (q >= 0 && q < N) {
        const Bytes bits = move_and<kShift - kBits * t.value>(line, mask);
        v[q] = kAdds ? v[q] | bits : bits;
      }
    });
  });
}

// v[q - kBegin] holds at byte 4*r + j the code of row r, column 4q + j, minus kCodeBias; of table
// codecs the byte the code stands for.
template <Codec kCodec, int kBegin, int N>
ARION_INLINE void unpack_codes(const std::byte* block, const TableArgs& table, Bytes (&v)[N]) {
  using enum Codec;
  if constexpr (kCodec == c8) {
    static_for<N>([&](auto q) ARION_INLINE_LAMBDA {
      v[q] = Bytes::load(block + 64 * (kBegin + q));
      if constexpr (kCodeBias<kCodec> != 0) v[q] = v[q] ^ Bytes::set1(0x80);
    });
  } else if constexpr (kCodec == c1) {
    unpack_bits<1, 1, false, kBegin>(block, v);
  } else if constexpr (kCodec == c2 || kCodec == c3 || kCodec == t3) {
    unpack_bits<0, 2, false, kBegin>(block, v);
    if constexpr (kCodec != c2) unpack_bits<2, 1, true, kBegin>(block + 128, v);
  } else {
    unpack_bits<0, 4, false, kBegin>(block, v);
    if constexpr (kCodec == c5) unpack_bits<4, 1, true, kBegin>(block + 256, v);
    if constexpr (kCodec == c6) unpack_bits<4, 2, true, kBegin>(block + 256, v);
  }
  if constexpr (is_table(kCodec)) {
    static_for<N>([&](auto q) ARION_INLINE_LAMBDA { v[q] = lookup16(table.values, v[q]); });
  }
}

// Modes with scales for columns 0-15 and 16-31 of a block.
template <ScaleMode kMode>
inline constexpr bool kHasHalves =
    kMode == ScaleMode::d16 || kMode == ScaleMode::d16m || kMode == ScaleMode::e16;

// Modes whose sums over halves fit 16 bits, and so one instruction that multiplies pairs of them by
// the scales: |sum q * c| <= 16 * 7 * 127.
#if defined(ARION_ISA_avx512)
template <Codec kCodec, ScaleMode kMode>
inline constexpr bool kPairsHalves = kMode == ScaleMode::d16m ||
                                     (kMode == ScaleMode::d16 && kCodec == Codec::c3);
#else
template <Codec kCodec, ScaleMode kMode>
inline constexpr bool kPairsHalves = false;
#endif

// What multiplies and offsets the codes of one block, by row.
struct BlockScales {
  F32 d;        // a, b: d    d32, d32s: d * s    d16, d16m: d    e32: the scale
  F32 m;        // b: m       d32: -(dmin * m)    d16m: dmin
  F32 s0, s1;   // d16, d16m, e16: the scales of columns 0-15 and 16-31
  F32 m0, m1;   // d16m: the minima of columns 0-15 and 16-31
  I32 s, mins;  // the same as pairs of 16 bits where kPairsHalves
};

// 2^(e - 128): half an E8M0 number, subnormal for 0 and 1.
ARION_INLINE F32 load_e8m0(const uint8_t* p) {
  const I32 e = load_u8(p);
  const I32 one = I32::set1(1);
  return from_bits(select(less(e, I32::set1(2)), shl<21>(e + one), shl<23>(e - one)));
}

// Half an unsigned E4M3 number. With the exponent moved to that of f32, subnormals have a 1 before
// the mantissa that they must not have, and half their value.
ARION_INLINE F32 load_ue4m3(const uint8_t* p) {
  const I32 x = load_u8(p);
  const F32 normal = from_bits(shl<20>(x) + I32::set1(119 << 23));
  return select(less(x, I32::set1(8)), normal + normal - F32::set1(0x1p-7f), normal);
}

// The f16 scale that covers a block, times the unit of tables.
template <Codec kCodec, ScaleMode kMode>
ARION_INLINE F32 load_scale(const std::byte* superblock, int block, const TableArgs& table) {
  using enum ScaleMode;
  // In the modes a the superblock has two d.
  constexpr int kShared = superblock_cols(kMode) / 2 / kBlockCols;
  constexpr bool is_a = kMode == a || kMode == a64 || kMode == a128;
  const auto* half = reinterpret_cast<const uint16_t*>(superblock);
  const F32 d = load_f16(half + (is_a ? block / kShared * kLanes : 0));
  return is_table(kCodec) ? d * table.unit : d;
}

// Products of an f16 and a small integer are exact in f32, so nothing is rounded here.
template <Codec kCodec, ScaleMode kMode>
ARION_INLINE BlockScales load_scales(const std::byte* superblock, int block,
                                     const TableArgs& table) {
  using enum ScaleMode;
  const auto* half = reinterpret_cast<const uint16_t*>(superblock);
  const auto* bytes = reinterpret_cast<const uint8_t*>(superblock);
  const uint8_t* small = bytes + 64;
  BlockScales scales{};
  if constexpr (kMode == e32) {
    scales.d = load_e8m0(bytes + kLanes * block);
  } else if constexpr (kMode == e16) {
    scales.d = F32::set1(1.0f);
    scales.s0 = load_ue4m3(bytes + 2 * kLanes * block);
    scales.s1 = load_ue4m3(bytes + 2 * kLanes * block + kLanes);
  } else {
    scales.d = load_scale<kCodec, kMode>(superblock, block, table);
  }
  if constexpr (kMode == b || kMode == d16m) scales.m = load_f16(half + kLanes);
  if constexpr (kMode == d32) {
    scales.d = scales.d * to_f32(load_u8(small + kLanes * block));
    scales.m = negate(load_f16(half + kLanes) * to_f32(load_u8(small + kLanes * (8 + block))));
  }
  const uint8_t* pair = small + 2 * kLanes * block;
  if constexpr (kMode == d32s) {
    scales.d = scales.d * to_f32(load_i8(reinterpret_cast<const int8_t*>(small) + kLanes * block));
  }
  if constexpr (kMode == d16) {
    scales.s0 = to_f32(load_i8(reinterpret_cast<const int8_t*>(pair)));
    scales.s1 = to_f32(load_i8(reinterpret_cast<const int8_t*>(pair) + kLanes));
  }
  if constexpr (kMode == d16m) {
    const I32 low = I32::set1(15), first = load_u8(pair), second = load_u8(pair + kLanes);
    scales.s0 = to_f32(first & low);
    scales.s1 = to_f32(second & low);
    scales.m0 = to_f32(shr<4>(first));
    scales.m1 = to_f32(shr<4>(second));
  }
#if defined(ARION_ISA_avx512)
  if constexpr (kPairsHalves<kCodec, kMode> && kMode == d16) {
    scales.s = pair_halves(load_i8(reinterpret_cast<const int8_t*>(pair)),
                           load_i8(reinterpret_cast<const int8_t*>(pair) + kLanes));
  } else if constexpr (kPairsHalves<kCodec, kMode>) {
    const I32 both = load_u8(pair) | shl<16>(load_u8(pair + kLanes)), low = I32::set1(0x000f000f);
    scales.s = both & low;
    scales.mins = shr<4>(both) & low;
  }
#endif
  return scales;
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
