// P16 panels: the one packed layout of weights that every linear kernel reads.
//
// A panel is 16 consecutive output rows. It is a sequence of superblocks along the input columns,
// each 64-byte aligned: first the scales, then the codes, so that one stream is read in order.
//
// Codes, per 32 columns (a "block"): vector v(q), q = column / 4, holds at byte 4*r + j the code of
// row r, column 4q + j (64 bytes).
//   c8   v(0) .. v(7)                                             512 bytes
//   c4   pair p = 0..3: v(2p) | v(2p+1) << 4                      256 bytes
//   c5   c4 of the low 4 bits, then one line whose byte i has as bit q the high bit of v(q)[i]
//   c6   c4 of the low 4 bits, then two lines; byte i of line h has as bits 2t, 2t+1 the two high
//        bits of v(4h + t)[i]
//   f32  [column][16] floats;  f16, bf16  [column / 2][16][2]
//
// Scales by mode, each array [16] by row:
//   a    superblock of 64 columns: f16 d[2][16], one row of d per 32 columns      64 bytes
//   b    superblock of 32 columns: f16 d[16], f16 m[16]                           64 bytes
//   d32  superblock of 256 columns: f16 d[16], f16 dmin[16]; u8 s[8][16], u8 m[8][16]   320 bytes
//   d16  superblock of 256 columns: f16 d[16], 32 bytes unused; i8 s[16][16]            320 bytes
//   none no scales; superblock of 64 columns
//
// The value of a code c is   a: d*(c-z)   b: d*c + m   d32: d*s*c - dmin*m   d16: d*s*(c-z).
// Columns beyond the matrix and rows beyond it hold zero scales and the code z (0 in modes b and
// d32), or zero values in mode none, so that they add nothing to any sum.
// Source: quantisation formats of GGUF; the layout is our own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace arion {

inline constexpr int kPanelRows = 16;

enum class Codec : uint8_t { c4, c5, c6, c8, f32, f16, bf16 };
enum class ScaleMode : uint8_t { none, a, b, d16, d32 };

struct PanelSpec {
  Codec codec = Codec::f32;
  ScaleMode mode = ScaleMode::none;
  int zero = 0;  // subtracted from every code (modes a and d16)
  bool operator==(const PanelSpec&) const = default;
};

constexpr int superblock_cols(ScaleMode mode) {
  switch (mode) {
    case ScaleMode::b:
      return 32;
    case ScaleMode::d16:
    case ScaleMode::d32:
      return 256;
    default:
      return 64;
  }
}

constexpr size_t scale_bytes(ScaleMode mode) {
  switch (mode) {
    case ScaleMode::none:
      return 0;
    case ScaleMode::a:
    case ScaleMode::b:
      return 64;
    default:
      return 320;
  }
}

// Bytes of the codes of 32 columns.
constexpr size_t code_block_bytes(Codec codec) {
  switch (codec) {
    case Codec::c4:
      return 256;
    case Codec::c5:
      return 320;
    case Codec::c6:
      return 384;
    case Codec::c8:
      return 512;
    case Codec::f32:
      return 2048;
    default:
      return 1024;
  }
}

constexpr size_t superblock_bytes(const PanelSpec& spec) {
  return scale_bytes(spec.mode) +
         code_block_bytes(spec.codec) * static_cast<size_t>(superblock_cols(spec.mode) / 32);
}

constexpr int superblocks(const PanelSpec& spec, int cols) {
  const int width = superblock_cols(spec.mode);
  return (cols + width - 1) / width;
}

// Bytes of one panel of a matrix with `cols` columns.
constexpr size_t panel_bytes(const PanelSpec& spec, int cols) {
  return static_cast<size_t>(superblocks(spec, cols)) * superblock_bytes(spec);
}

constexpr int panel_count(int rows) {
  return (rows + kPanelRows - 1) / kPanelRows;
}

std::string_view codec_name(Codec codec);
std::string_view scale_mode_name(ScaleMode mode);

}  // namespace arion
