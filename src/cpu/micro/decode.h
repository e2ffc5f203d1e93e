// Exact f32 values of panels, [column][16 rows]: what the f32 and bf16 kernels multiply.
#pragma once
#include "cpu/micro/unpack.h"

namespace arion::cpu::ARION_ISA {
namespace {

// 32 columns of a quantised panel. All products are exact, only sums with a minimum round.
template <Codec kCodec, ScaleMode kMode>
ARION_INLINE void decode_block(const std::byte* superblock, int block, int zero,
                               const TableArgs& table, float* out) {
  using enum ScaleMode;
  constexpr bool kHasMin = kMode == b || kMode == d16m || kMode == d32;
  Bytes v[8];
  unpack_codes<kCodec, 0>(
      superblock + scale_bytes(kMode) + code_block_bytes(kCodec) * static_cast<size_t>(block),
      table, v);
  const BlockScales scales = load_scales<kCodec, kMode>(superblock, block, table);
  const I32 offset = I32::set1(zero - kCodeBias<kCodec>);
  const F32 left = kHasHalves<kMode> ? scales.d * scales.s0 : scales.d;
  const F32 right = kHasHalves<kMode> ? scales.d * scales.s1 : scales.d;
  const F32 left_min = kMode == d16m ? negate(scales.m * scales.m0) : scales.m;
  const F32 right_min = kMode == d16m ? negate(scales.m * scales.m1) : scales.m;
  for (int q = 0; q < 8; ++q) {
    const I32 codes = lanes(v[q]);
    const F32 scale = q < 4 ? left : right;
    const F32 min = q < 4 ? left_min : right_min;
    static_for<4>([&](auto j) ARION_INLINE_LAMBDA {
      // Signed where the codes are kept with a bias.
      const I32 code = kCodeBias<kCodec> != 0 ? sar<24>(shl<24 - 8 * j>(codes))
                                              : shr<24>(shl<24 - 8 * j>(codes));
      F32 value = to_f32(code - offset) * scale;
      if constexpr (kHasMin) value = value + min;
      value.store(out + (4 * q + j) * kLanes);
    });
  }
}

template <Codec kCodec, ScaleMode kMode>
ARION_NOINLINE void decode_codes(const PanelSpec& spec, const std::byte* panel, int col, int cols,
                                 float* out) {
  constexpr int kBlocks = superblock_cols(kMode) / kBlockCols;
  constexpr size_t kSuperblock = superblock_bytes({kCodec, kMode});
  const TableArgs table = load_table<kCodec>(spec.table);
  for (int b = col / kBlockCols; b * kBlockCols < col + cols; ++b, out += kBlockCols * kLanes) {
    const std::byte* superblock = panel + kSuperblock * static_cast<size_t>(b / kBlocks);
    decode_block<kCodec, kMode>(superblock, b % kBlocks, spec.zero, table, out);
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
  if (spec.codec == Codec::f16) return decode_pairs<true>(panel, col, cols, out);
  if (spec.codec == Codec::bf16) return decode_pairs<false>(panel, col, cols, out);
#define ARION_DECODE(codec_, mode_)                                                    \
  if (spec.codec == Codec::codec_ && spec.mode == ScaleMode::mode_) {                  \
    return decode_codes<Codec::codec_, ScaleMode::mode_>(spec, panel, col, cols, out); \
  }
  ARION_PANEL_KINDS(ARION_DECODE)
#undef ARION_DECODE
}

// The panels decode_panel and the linear kernels know.
ARION_INLINE bool is_known_panel(const PanelSpec& spec) {
  using enum Codec;
  if (spec.mode == ScaleMode::none) {
    return spec.codec == f32 || spec.codec == f16 || spec.codec == bf16;
  }
#define ARION_IS_KIND(codec_, mode_) \
  if (spec.codec == Codec::codec_ && spec.mode == ScaleMode::mode_) return true;
  ARION_PANEL_KINDS(ARION_IS_KIND)
#undef ARION_IS_KIND
  return false;
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
