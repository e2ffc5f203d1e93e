// Implements the byte layout of panel.h.
//
// A row's part of every 64-byte line is 4 bytes, so all codecs move 4-byte units: unit q of a row
// goes to byte 4*row of its line. Bits of the four codes in a unit are moved together.
#include "quant/panel_pack.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/half.h"
#include "quant/small_floats.h"

namespace arion {

static_assert(std::endian::native == std::endian::little, "files and panels are little endian");

namespace {

constexpr int kLine = 64;
constexpr int kCodeBlock = 32;  // columns
constexpr int kUnits = kCodeBlock / 4;
constexpr int kArray16 = kPanelRows * 2;  // bytes of one array of f16 by row

template <typename T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

size_t superblock_offset(const PanelSpec& spec, int col) {
  const auto width = static_cast<unsigned>(superblock_cols(spec.mode));  // a power of two
  return static_cast<size_t>(col >> std::countr_zero(width)) * superblock_bytes(spec);
}

// Offset of the codes of columns col .. col + 31.
size_t code_offset(const PanelSpec& spec, int col) {
  const int block = (col & (superblock_cols(spec.mode) - 1)) / kCodeBlock;
  return superblock_offset(spec, col) + scale_bytes(spec.mode) +
         static_cast<size_t>(block) * code_block_bytes(spec.codec);
}

using Units = std::array<uint32_t, kUnits>;  // the codes of a row in a block

constexpr uint32_t every_byte(int bits) {
  return ((1u << bits) - 1) * 0x01010101u;
}

// Bits [kShift, kShift + kBits) of all codes, in kBits lines of 8 / kBits units each. `lines` is
// already moved to the row's bytes of the first one.
template <int kShift, int kBits>
void store_bits(const Units& v, std::byte* lines) {
  constexpr int kPerLine = 8 / kBits;
  for (int line = 0; line < kBits; ++line) {
    uint32_t word = 0;
    for (int t = 0; t < kPerLine; ++t) {
      word |= (v[line * kPerLine + t] >> kShift & every_byte(kBits)) << kBits * t;
    }
    store(lines + line * kLine, word);
  }
}

template <int kShift, int kBits>
void load_bits(const std::byte* lines, Units& v) {
  constexpr int kPerLine = 8 / kBits;
  for (int line = 0; line < kBits; ++line) {
    const uint32_t word = load<uint32_t>(lines + line * kLine);
    for (int t = 0; t < kPerLine; ++t) {
      v[line * kPerLine + t] |= (word >> kBits * t & every_byte(kBits)) << kShift;
    }
  }
}

// Calls f(Bits<shift, bits>{}, line) for every group of lines of a codec.
template <int kShift, int kBits>
struct Bits {
  static constexpr int shift = kShift, bits = kBits;
};
template <typename F>
void for_each_bits(Codec codec, F f) {
  switch (codec) {
    case Codec::c1:
      return f(Bits<1, 1>{}, 0);
    case Codec::c2:
      return f(Bits<0, 2>{}, 0);
    case Codec::c3:
    case Codec::t3:
      return f(Bits<0, 2>{}, 0), f(Bits<2, 1>{}, 2);
    case Codec::c4:
    case Codec::t4:
      return f(Bits<0, 4>{}, 0);
    case Codec::c5:
      return f(Bits<0, 4>{}, 0), f(Bits<4, 1>{}, 4);
    case Codec::c6:
      return f(Bits<0, 4>{}, 0), f(Bits<4, 2>{}, 4);
    default:
      return f(Bits<0, 8>{}, 0);
  }
}

// `block` is a code block, already moved to the row's bytes of its first line.
void store_codes(Codec codec, const uint8_t* codes, std::byte* block) {
  const Units v = load<Units>(codes);
  for_each_bits(codec, [&]<typename B>(B, int line) {
    store_bits<B::shift, B::bits>(v, block + line * kLine);
  });
}

void load_codes(Codec codec, const std::byte* block, uint8_t* codes) {
  Units v{};
  for_each_bits(codec, [&]<typename B>(B, int line) {
    load_bits<B::shift, B::bits>(block + line * kLine, v);
  });
  std::memcpy(codes, v.data(), sizeof v);
}

bool has_min(ScaleMode mode) {
  return mode == ScaleMode::b || mode == ScaleMode::d16m || mode == ScaleMode::d32;
}

// Columns that share a small scale s.
int group_cols(ScaleMode mode) {
  const bool is_short = mode == ScaleMode::d16 || mode == ScaleMode::d16m || mode == ScaleMode::e16;
  return is_short ? 16 : kCodeBlock;
}

// The scales of the part_cols(mode) columns at `at`, whose small scales begin at parts.s[first].
void store_scales(ScaleMode mode, const BlockParts& parts, size_t first, PanelPosition at,
                  std::byte* scales) {
  const int col = at.col & (superblock_cols(mode) - 1);
  std::byte* const d = scales + 2 * at.row + col / part_cols(mode) * kArray16;
  std::byte* const small = scales + kLine + at.row;
  switch (mode) {
    case ScaleMode::none:
      break;
    case ScaleMode::a:
    case ScaleMode::a64:
    case ScaleMode::a128:
      store(d, parts.d);
      break;
    case ScaleMode::b:
    case ScaleMode::d16:
    case ScaleMode::d16m:
    case ScaleMode::d32:
    case ScaleMode::d32s:
      store(d, parts.d);
      if (has_min(mode)) store(d + kArray16, parts.m);
      if (mode == ScaleMode::b) break;
      for (int g = 0; g < kMaxBlockValues / group_cols(mode); ++g) {
        const auto m = static_cast<uint8_t>(mode == ScaleMode::d16m ? parts.sm[g] << 4 : 0);
        store(small + g * kPanelRows, static_cast<uint8_t>(parts.s[g] | m));
        if (mode == ScaleMode::d32) store(small + (8 + g) * kPanelRows, parts.sm[g]);
      }
      break;
    case ScaleMode::e16:
    case ScaleMode::e32:
      for (int g = 0; g < kCodeBlock / group_cols(mode); ++g) {
        store(scales + (col / group_cols(mode) + g) * kPanelRows + at.row, parts.s[first + g]);
      }
      break;
  }
}

void load_scales(ScaleMode mode, const std::byte* scales, PanelPosition at, BlockParts& parts) {
  const int col = at.col & (superblock_cols(mode) - 1);
  const std::byte* const small = scales + kLine + at.row;
  if (mode == ScaleMode::e16 || mode == ScaleMode::e32) {
    for (int g = 0; g < kCodeBlock / group_cols(mode); ++g) {
      parts.s[g] = load<uint8_t>(scales + (col / group_cols(mode) + g) * kPanelRows + at.row);
    }
    return;
  }
  const std::byte* const d = scales + 2 * at.row + col / part_cols(mode) * kArray16;
  parts.d = load<uint16_t>(d);
  if (has_min(mode)) parts.m = load<uint16_t>(d + kArray16);
  if (part_cols(mode) != kMaxBlockValues) return;
  for (int g = 0; g < kMaxBlockValues / group_cols(mode); ++g) {
    parts.s[g] = load<uint8_t>(small + g * kPanelRows);
    if (mode == ScaleMode::d32) parts.sm[g] = load<uint8_t>(small + (8 + g) * kPanelRows);
    if (mode == ScaleMode::d16m) {
      parts.sm[g] = parts.s[g] >> 4;
      parts.s[g] &= 15;
    }
  }
}

// What multiplies the codes of group g.
float group_scale(const PanelSpec& spec, const BlockParts& parts, size_t g) {
  const float d = half_to_float(parts.d) * code_values(spec.table).unit;
  switch (spec.mode) {
    case ScaleMode::d16:
    case ScaleMode::d32s:
      return d * static_cast<float>(static_cast<int8_t>(parts.s[g]));
    case ScaleMode::d16m:
    case ScaleMode::d32:
      return d * static_cast<float>(parts.s[g]);
    case ScaleMode::e16:
      return half_ue4m3(parts.s[g]);
    case ScaleMode::e32:
      return half_e8m0(parts.s[g]);
    default:
      return d;
  }
}

// What is added to the products of group g; -0 changes no sum, not even the sign of a zero.
float group_offset(const PanelSpec& spec, const BlockParts& parts, size_t g) {
  if (!has_min(spec.mode)) return -0.0f;
  const float m = half_to_float(parts.m);
  return spec.mode == ScaleMode::b ? m : -(m * static_cast<float>(parts.sm[g]));
}

void unpack_words(const PanelSpec& spec, const std::byte* panel, int row, std::span<float> out) {
  const std::byte* const words = panel + 4 * row;
  for (size_t i = 0; i < out.size(); ++i) {
    if (spec.codec == Codec::f32) {
      out[i] = load<float>(words + i * kLine);
    } else {
      const uint16_t word = load<uint16_t>(words + i / 2 * kLine + i % 2 * 2);
      out[i] = spec.codec == Codec::f16 ? half_to_float(word) : bfloat16_to_float(word);
    }
  }
}

}  // namespace

void block_values(const PanelSpec& spec, const BlockParts& parts, std::span<float> out) {
  const CodeValues& table = code_values(spec.table);
  for (size_t i = 0; i < out.size(); ++i) {
    const int code = parts.codes[i];
    out[i] = static_cast<float>(is_table(spec.codec) ? table.value[code] : code - spec.zero);
  }
  const auto group = static_cast<size_t>(group_cols(spec.mode));
  for (size_t start = 0; start < out.size(); start += group) {
    const float scale = group_scale(spec, parts, start / group);
    const float offset = group_offset(spec, parts, start / group);
    for (size_t i = start; i < start + group; ++i) out[i] = scale * out[i] + offset;
  }
}

void blank_panel(const PanelSpec& spec, int rows, int cols, std::span<std::byte> panel) {
  CHECK(rows > 0 && rows <= kPanelRows && panel.size() == panel_bytes(spec, cols));
  std::memset(panel.data(), 0, panel.size());
  if (spec.zero == 0 || is_table(spec.codec)) return;
  std::array<uint8_t, kCodeBlock> zeros;
  zeros.fill(static_cast<uint8_t>(spec.zero));
  const int width = superblocks(spec, cols) * superblock_cols(spec.mode);
  for (int col = 0; col < width; col += kCodeBlock) {
    for (int r = col < cols ? rows : 0; r < kPanelRows; ++r) {
      store_codes(spec.codec, zeros.data(), panel.data() + code_offset(spec, col) + 4 * r);
    }
  }
}

void store_block(const PanelSpec& spec, const BlockParts& parts, int values, PanelPosition at,
                 std::byte* panel) {
  for (int i = 0; i < values; i += kCodeBlock) {
    const int col = at.col + i;
    store_codes(spec.codec, &parts.codes[i], panel + code_offset(spec, col) + 4 * at.row);
    if (i % part_cols(spec.mode) != 0) continue;
    store_scales(spec.mode, parts, static_cast<size_t>(i / group_cols(spec.mode)), {at.row, col},
                 panel + superblock_offset(spec, col));
  }
}

void pack_words(const PanelSpec& spec, std::span<const std::byte> rows, int count, int cols,
                std::span<std::byte> panel) {
  blank_panel(spec, count, cols, panel);
  const size_t row_bytes = rows.size() / count;
  CHECK(rows.size() == row_bytes * count);
  constexpr size_t kStretch = 256;  // bytes of a row: 64 lines, which stay in the first cache
  for (size_t start = 0; start < row_bytes; start += kStretch) {
    const size_t end = std::min(row_bytes, start + kStretch);
    for (int r = 0; r < count; ++r) {
      const std::byte* const row = rows.data() + static_cast<size_t>(r) * row_bytes;
      std::byte* const to = panel.data() + 4 * r;
      size_t i = start;
      for (; i + 4 <= end; i += 4) store(to + i / 4 * kLine, load<uint32_t>(row + i));
      if (i < end) store(to + i / 4 * kLine, load<uint16_t>(row + i));
    }
  }
}

void unpack_panel_row(const PanelSpec& spec, std::span<const std::byte> panel, int row,
                      std::span<float> out) {
  const int cols = static_cast<int>(out.size());
  CHECK(row >= 0 && row < kPanelRows && panel.size() == panel_bytes(spec, cols));
  if (spec.mode == ScaleMode::none) return unpack_words(spec, panel.data(), row, out);
  const int step = part_cols(spec.mode);
  BlockParts parts;
  for (int col = 0; col < cols; col += step) {
    for (int i = 0; i < step; i += kCodeBlock) {
      load_codes(spec.codec, panel.data() + code_offset(spec, col + i) + 4 * row, &parts.codes[i]);
    }
    load_scales(spec.mode, panel.data() + superblock_offset(spec, col), {row, col}, parts);
    block_values(spec, parts, out.subspan(col, step));
  }
}

}  // namespace arion
