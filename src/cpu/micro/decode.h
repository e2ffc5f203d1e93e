// Exact f32 values of panels, [column][16 rows]: what the f32 and bf16 kernels multiply.
#pragma once
#include "cpu/micro/unpack.h"

namespace arion::cpu::ARION_ISA {
namespace {

// 32 columns of a quantised panel. All products are exact, only mode b and d32 round their sum.
template <Codec kCodec, ScaleMode kMode>
ARION_INLINE void decode_block(const std::byte* superblock, int block, int zero, float* out) {
  constexpr PanelSpec kSpec{kCodec, kMode, 0};
  Bytes v[8];
  unpack_codes<kCodec>(
      superblock + scale_bytes(kMode) + code_block_bytes(kSpec.codec) * static_cast<size_t>(block),
      v);
  const BlockScales scales = load_scales<kMode>(superblock, block);
  const I32 offset = I32::set1(zero - kCodeBias<kCodec>);
  const F32 left = kMode == ScaleMode::d16 ? scales.d * scales.s0 : scales.d;
  const F32 right = kMode == ScaleMode::d16 ? scales.d * scales.s1 : scales.d;
  for (int q = 0; q < 8; ++q) {
    const I32 codes = lanes(v[q]);
    const F32 scale = q < 4 ? left : right;
    static_for<4>([&](auto j) ARION_INLINE_LAMBDA {
      // Signed where the codes are kept with a bias.
      const I32 code = kCodeBias<kCodec> != 0 ? sar<24>(shl<24 - 8 * j>(codes))
                                              : shr<24>(shl<24 - 8 * j>(codes));
      F32 value = to_f32(code - offset) * scale;
      if constexpr (kMode == ScaleMode::b || kMode == ScaleMode::d32) value = value + scales.m;
      value.store(out + (4 * q + j) * kLanes);
    });
  }
}

template <Codec kCodec, ScaleMode kMode>
ARION_NOINLINE void decode_codes(const std::byte* panel, int zero, int col, int cols, float* out) {
  constexpr PanelSpec kSpec{kCodec, kMode, 0};
  constexpr int kBlocks = superblock_cols(kMode) / kBlockCols;
  for (int b = col / kBlockCols; b * kBlockCols < col + cols; ++b, out += kBlockCols * kLanes) {
    const std::byte* superblock =
        panel + superblock_bytes(kSpec) * static_cast<size_t>(b / kBlocks);
    decode_block<kCodec, kMode>(superblock, b % kBlocks, zero, out);
  }
}

// f16 or bf16 panels: 32-bit words of two columns.
template <bool kIsHalf>
ARION_NOINLINE void decode_pairs(const std::byte* panel, int col, int cols, float* out) {
  const auto* words = reinterpret_cast<const int32_t*>(panel) + col / 2 * kLanes;
  for (int c = 0; c < cols; c += 2, words += kLanes, out += 2 * kLanes) {
    const I32 pair = I32::load(words);
    if constexpr (kIsHalf) {
      alignas(64) uint16_t even[kLanes], odd[kLanes];
      store_low16(even, pair);
      store_low16(odd, shr<16>(pair));
      load_f16(even).store(out);
      load_f16(odd).store(out + kLanes);
    } else {
      from_bits(shl<16>(pair)).store(out);
      from_bits(pair & I32::set1(static_cast<int32_t>(0xffff0000u))).store(out + kLanes);
    }
  }
}

// Columns [col, col + cols) of one panel into out, cols rounded up to a multiple of 32 (2 for f16
// and bf16). col is a multiple of 32. Not for codec f32, whose panels are in this form already.
[[maybe_unused]] ARION_NOINLINE void decode_panel(const PanelSpec& spec, const std::byte* panel,
                                                  int col, int cols, float* out) {
  using enum Codec;
  using enum ScaleMode;
  const int z = spec.zero;
  if (spec.codec == f16) return decode_pairs<true>(panel, col, cols, out);
  if (spec.codec == bf16) return decode_pairs<false>(panel, col, cols, out);
  if (spec.mode == a) {
    if (spec.codec == c8) return decode_codes<c8, a>(panel, z, col, cols, out);
    if (spec.codec == c5) return decode_codes<c5, a>(panel, z, col, cols, out);
    return decode_codes<c4, a>(panel, z, col, cols, out);
  }
  if (spec.mode == b) {
    if (spec.codec == c5) return decode_codes<c5, b>(panel, z, col, cols, out);
    return decode_codes<c4, b>(panel, z, col, cols, out);
  }
  if (spec.mode == d32) {
    if (spec.codec == c5) return decode_codes<c5, d32>(panel, z, col, cols, out);
    return decode_codes<c4, d32>(panel, z, col, cols, out);
  }
  decode_codes<c6, d16>(panel, z, col, cols, out);
}

// The panels decode_panel and the linear kernels know.
ARION_INLINE bool is_known_panel(const PanelSpec& spec) {
  using enum Codec;
  switch (spec.mode) {
    case ScaleMode::none:
      return spec.codec == f32 || spec.codec == f16 || spec.codec == bf16;
    case ScaleMode::a:
      return spec.codec == c4 || spec.codec == c5 || spec.codec == c8;
    case ScaleMode::b:
    case ScaleMode::d32:
      return spec.codec == c4 || spec.codec == c5;
    case ScaleMode::d16:
      return spec.codec == c6;
  }
  return false;
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
