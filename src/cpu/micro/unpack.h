// Takes the codes and scales of one block (16 rows x 32 columns) out of a panel, see quant/panel.h.
#pragma once
#include "cpu/simd/simd.h"
#include "quant/panel.h"

namespace arion::cpu::ARION_ISA {
namespace {

inline constexpr int kBlockCols = 32;

// vpmaddubsw would saturate on 8-bit codes, so AVX2 keeps them as signed bytes code - 128.
#if defined(ARION_ISA_avx2)
template <Codec kCodec>
inline constexpr int kCodeBias = kCodec == Codec::c8 ? 128 : 0;
#else
template <Codec kCodec>
inline constexpr int kCodeBias = 0;
#endif

// v[q] holds at byte 4*r + j the code of row r, column 4q + j, minus kCodeBias.
template <Codec kCodec>
ARION_INLINE void unpack_codes(const std::byte* block, Bytes (&v)[8]) {
  if constexpr (kCodec == Codec::c8) {
    static_for<8>([&](auto q) ARION_INLINE_LAMBDA {
      v[q] = Bytes::load(block + 64 * q);
      if constexpr (kCodeBias<kCodec> != 0) v[q] = v[q] ^ Bytes::set1(0x80);
    });
  } else {
    const Bytes low = Bytes::set1(0x0f);
    static_for<4>([&](auto p) ARION_INLINE_LAMBDA {
      const Bytes pair = Bytes::load(block + 64 * p);
      v[2 * p] = pair & low;
      v[2 * p + 1] = shr_and<4>(pair, low);
    });
  }
  if constexpr (kCodec == Codec::c5) {
    const Bytes high = Bytes::load(block + 256);
    const Bytes bit = Bytes::set1(0x10);
    static_for<4>([&](auto q) ARION_INLINE_LAMBDA {
      v[q] = v[q] | shl_and<4 - q>(high, bit);
      v[q + 4] = v[q + 4] | shr_and<q>(high, bit);
    });
  } else if constexpr (kCodec == Codec::c6) {
    const Bytes bits = Bytes::set1(0x30);
    static_for<2>([&](auto h) ARION_INLINE_LAMBDA {
      const Bytes high = Bytes::load(block + 256 + 64 * h);
      v[4 * h] = v[4 * h] | shl_and<4>(high, bits);
      v[4 * h + 1] = v[4 * h + 1] | shl_and<2>(high, bits);
      v[4 * h + 2] = v[4 * h + 2] | (high & bits);
      v[4 * h + 3] = v[4 * h + 3] | shr_and<2>(high, bits);
    });
  }
}

// What multiplies and offsets the codes of one block, by row.
struct BlockScales {
  F32 d;       // a, b: d    d32: d * s    d16: d
  F32 m;       // b: m       d32: -(dmin * m)
  F32 s0, s1;  // d16: the scales of columns 0-15 and 16-31
};

// Products of an f16 and a small integer are exact in f32, so nothing is rounded here.
template <ScaleMode kMode>
ARION_INLINE BlockScales load_scales(const std::byte* superblock, int block) {
  const auto* half = reinterpret_cast<const uint16_t*>(superblock);
  const auto* small = reinterpret_cast<const uint8_t*>(superblock + 64);
  BlockScales scales{};
  if constexpr (kMode == ScaleMode::a) {
    scales.d = load_f16(half + kLanes * block);
  } else {
    scales.d = load_f16(half);
  }
  if constexpr (kMode == ScaleMode::b) scales.m = load_f16(half + kLanes);
  if constexpr (kMode == ScaleMode::d32) {
    scales.d = scales.d * to_f32(load_u8(small + kLanes * block));
    scales.m = negate(load_f16(half + kLanes) * to_f32(load_u8(small + kLanes * (8 + block))));
  }
  if constexpr (kMode == ScaleMode::d16) {
    const auto* s = reinterpret_cast<const int8_t*>(small) + 2 * kLanes * block;
    scales.s0 = to_f32(load_i8(s));
    scales.s1 = to_f32(load_i8(s + kLanes));
  }
  return scales;
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
