// Blocks taken apart into codes and scales, and their way into panels (with panel_store.h) and
// back: the one place that knows the byte layout of panel.h, shared by all formats.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "quant/panel.h"

namespace arion {

inline constexpr int kMaxBlockValues = 256;

// One block of up to 256 values. Which scales count depends on the panel's mode:
//   a, a64, a128  d                       b     d, m (added)
//   d16   d, s[16] (bit patterns of i8)   d16m  d, m (dmin), s[16], sm[16] (0 .. 15)
//   d32s  d, s[8] (bit patterns of i8)    d32   d, m (dmin), s[8], sm[8]
//   e16   s, one E4M3 per 16 values       e32   s, one E8M0 per 32 values
struct BlockParts {
  std::array<uint8_t, kMaxBlockValues> codes;
  uint16_t d = 0;  // f16 bits
  uint16_t m = 0;  // f16 bits
  std::array<uint8_t, 16> s{}, sm{};
};

// Columns of a panel that one BlockParts describes at least: a block's size is a multiple of it.
constexpr int part_cols(ScaleMode mode) {
  switch (mode) {
    case ScaleMode::a64:
      return 64;
    case ScaleMode::a128:
      return 128;
    case ScaleMode::d16:
    case ScaleMode::d16m:
    case ScaleMode::d32:
    case ScaleMode::d32s:
      return 256;
    default:
      return 32;
  }
}

// Where a block's first value lies in a panel.
struct PanelPosition {
  int row = 0;  // 0..15
  int col = 0;  // a multiple of the block's size
};

// Values of a block whose size is out.size(), in float32 arithmetic that rounds at most once.
void block_values(const PanelSpec& spec, const BlockParts& parts, std::span<float> out);

// Writes zero scales everywhere, and the zero point into all codes that no row will store.
void blank_panel(const PanelSpec& spec, int rows, int cols, std::span<std::byte> panel);

// Packs `count` consecutive rows of words into a whole panel of codec f32 (4-byte words), f16 or
// bf16 (2-byte words).
void pack_words(const PanelSpec& spec, std::span<const std::byte> rows, int count, int cols,
                std::span<std::byte> panel);

// WeightFormat::unpack_row for every panel.
void unpack_panel_row(const PanelSpec& spec, std::span<const std::byte> panel, int row,
                      std::span<float> out);

}  // namespace arion
