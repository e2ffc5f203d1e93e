// P16 panels: the one packed layout of weights that every linear kernel reads.
//
// A panel is 16 consecutive output rows. It is a sequence of superblocks along the input columns,
// each 64-byte aligned: first the scales, then the codes, so that one stream is read in order.
//
// Codes, per 32 columns (a "block"): vector v(q), q = column / 4, holds at byte 4*r + j the code of
// row r, column 4q + j (64 bytes).
//   c8      v(0) .. v(7)                                             512 bytes
//   c4, t4  pair p = 0..3: v(2p) | v(2p+1) << 4                      256 bytes
//   c2      quad p = 0..1: v(4p) | v(4p+1) << 2 | v(4p+2) << 4 | v(4p+3) << 6
//                                                                    128 bytes
//   c1      one line whose byte i has as bit q half of v(q)[i]: the codes are 0 and 2
//   c3, t3  c2 of the low 2 bits, then one line whose byte i has as bit q the high bit of v(q)[i]
//   c5      c4 of the low 4 bits, then the same line
//   c6      c4 of the low 4 bits, then two lines; byte i of line h has as bits 2t, 2t+1 the two
//           high bits of v(4h + t)[i]
//   f32     [column][16] floats;  f16, bf16  [column / 2][16][2]
//
// Scales by mode, each array [16] by row:
//   a, a64, a128  superblock of 64, 128, 256 columns: f16 d[2][16], each for half of them
//   b     superblock of 32 columns: f16 d[16], f16 m[16]
//   d16   superblock of 256 columns: f16 d[16], 32 bytes unused; i8 s[16][16]
//   d16m  superblock of 256 columns: f16 d[16], dmin[16]; u8 [16][16] of s | m << 4
//   d32   superblock of 256 columns: f16 d[16], dmin[16]; u8 s[8][16], u8 m[8][16]
//   d32s  superblock of 256 columns: f16 d[16], 32 bytes unused; i8 s[8][16]
//   e16   superblock of 64 columns: unsigned E4M3 e[4][16] (code 127 is 480), each for 16 columns
//   e32   superblock of 128 columns: E8M0 e[4][16], each for 32 columns
//   none  no scales; superblock of 64 columns
//
// The value of a code c, where v = c - zero or, in the table codecs t3 and t4, v = value[c] and d
// counts in the table's unit:
//   a    d*v      b     d*c + m           d16   d*s*v    d16m, d32   d*s*c - dmin*m
//   e16  e/2*v    e32   2^(e - 128)*v     d32s  d*s*v
// Columns beyond the matrix and rows beyond it hold zero scales and the code `zero` (0 in c1 and in
// table codecs), or zero values in mode none, so that they add nothing to any sum.
// Source: quantisation formats of GGUF; the layout is our own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "quant/code_table.h"

namespace arion {

inline constexpr int kPanelRows = 16;

// Raised with every change of this layout or of what packing a format writes into it: panels that
// were stored by a version with another number are packed again.
inline constexpr uint32_t kPanelLayoutVersion = 1;

enum class Codec : uint8_t { c1, c2, c3, c4, c5, c6, c8, t3, t4, f32, f16, bf16 };
enum class ScaleMode : uint8_t { none, a, a64, a128, b, d16, d16m, d32, d32s, e16, e32 };

// Codecs whose codes index a CodeTable. Kernels see its values as bytes plus kTableZero.
constexpr bool is_table(Codec codec) {
  return codec == Codec::t3 || codec == Codec::t4;
}
inline constexpr int kTableZero = 128;

struct PanelSpec {
  Codec codec = Codec::f32;
  ScaleMode mode = ScaleMode::none;
  int zero = 0;  // subtracted from every code, or from every byte of a table: then kTableZero
  CodeTable table = CodeTable::none;
  bool operator==(const PanelSpec&) const = default;
};

constexpr int superblock_cols(ScaleMode mode) {
  switch (mode) {
    case ScaleMode::b:
      return 32;
    case ScaleMode::none:
    case ScaleMode::a:
    case ScaleMode::e16:
      return 64;
    case ScaleMode::a64:
    case ScaleMode::e32:
      return 128;
    default:
      return 256;
  }
}

constexpr size_t scale_bytes(ScaleMode mode) {
  switch (mode) {
    case ScaleMode::none:
      return 0;
    case ScaleMode::d32s:
      return 192;
    case ScaleMode::d16:
    case ScaleMode::d16m:
    case ScaleMode::d32:
      return 320;
    default:
      return 64;
  }
}

// Bytes of the codes of 32 columns.
constexpr size_t code_block_bytes(Codec codec) {
  switch (codec) {
    case Codec::c1:
      return 64;
    case Codec::c2:
      return 128;
    case Codec::c3:
    case Codec::t3:
      return 192;
    case Codec::c4:
    case Codec::t4:
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
