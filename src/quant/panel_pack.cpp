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

// `block` is a code block, already moved to the row's bytes of its first line.
void store_codes(Codec codec, const uint8_t* codes, std::byte* block) {
  uint32_t v[kUnits];
  std::memcpy(v, codes, sizeof v);
  if (codec == Codec::c8) {
    for (int q = 0; q < kUnits; ++q) store(block + q * kLine, v[q]);
    return;
  }
  for (int p = 0; p < 4; ++p) {
    const uint32_t low = v[2 * p] & 0x0f0f0f0fu;
    const uint32_t high = v[2 * p + 1] & 0x0f0f0f0fu;
    store(block + p * kLine, low | high << 4);
  }
  if (codec == Codec::c5) {
    uint32_t line = 0;
    for (int q = 0; q < kUnits; ++q) line |= (v[q] >> 4 & 0x01010101u) << q;
    store(block + 4 * kLine, line);
  } else if (codec == Codec::c6) {
    for (int h = 0; h < 2; ++h) {
      uint32_t line = 0;
      for (int t = 0; t < 4; ++t) line |= (v[4 * h + t] >> 4 & 0x03030303u) << 2 * t;
      store(block + (4 + h) * kLine, line);
    }
  }
}

void load_codes(Codec codec, const std::byte* block, uint8_t* codes) {
  uint32_t v[kUnits];
  if (codec == Codec::c8) {
    for (int q = 0; q < kUnits; ++q) v[q] = load<uint32_t>(block + q * kLine);
  } else {
    for (int p = 0; p < 4; ++p) {
      const uint32_t pair = load<uint32_t>(block + p * kLine);
      v[2 * p] = pair & 0x0f0f0f0fu;
      v[2 * p + 1] = pair >> 4 & 0x0f0f0f0fu;
    }
  }
  if (codec == Codec::c5) {
    const uint32_t line = load<uint32_t>(block + 4 * kLine);
    for (int q = 0; q < kUnits; ++q) v[q] |= (line >> q & 0x01010101u) << 4;
  } else if (codec == Codec::c6) {
    for (int q = 0; q < kUnits; ++q) {
      const uint32_t line = load<uint32_t>(block + (4 + q / 4) * kLine);
      v[q] |= (line >> 2 * (q % 4) & 0x03030303u) << 4;
    }
  }
  std::memcpy(codes, v, sizeof v);
}

void store_scales(ScaleMode mode, const BlockParts& parts, PanelPosition at, std::byte* scales) {
  std::byte* const d = scales + 2 * at.row;
  switch (mode) {
    case ScaleMode::none:
      break;
    case ScaleMode::a:
      store(d + at.col % 64 / kCodeBlock * kArray16, parts.d);
      break;
    case ScaleMode::b:
      store(d, parts.d);
      store(d + kArray16, parts.m);
      break;
    case ScaleMode::d32:
      store(d, parts.d);
      store(d + kArray16, parts.m);
      for (int g = 0; g < 8; ++g) {
        store(scales + kLine + g * kPanelRows + at.row, parts.s[g]);
        store(scales + kLine + (8 + g) * kPanelRows + at.row, parts.sm[g]);
      }
      break;
    case ScaleMode::d16:
      store(d, parts.d);
      for (int g = 0; g < 16; ++g) store(scales + kLine + g * kPanelRows + at.row, parts.s[g]);
      break;
  }
}

void load_scales(ScaleMode mode, const std::byte* scales, PanelPosition at, BlockParts& parts) {
  const std::byte* const d = scales + 2 * at.row;
  parts.d = load<uint16_t>(d + (mode == ScaleMode::a ? at.col % 64 / kCodeBlock * kArray16 : 0));
  if (mode == ScaleMode::b || mode == ScaleMode::d32) parts.m = load<uint16_t>(d + kArray16);
  if (mode != ScaleMode::d16 && mode != ScaleMode::d32) return;
  for (int g = 0; g < 8; ++g) {
    parts.s[g] = load<uint8_t>(scales + kLine + g * kPanelRows + at.row);
    const uint8_t second = load<uint8_t>(scales + kLine + (8 + g) * kPanelRows + at.row);
    (mode == ScaleMode::d16 ? parts.s[8 + g] : parts.sm[g]) = second;
  }
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
  const size_t group = spec.mode == ScaleMode::d16 ? 16 : kCodeBlock;
  const float d = half_to_float(parts.d);
  const float m = half_to_float(parts.m);
  for (size_t start = 0; start < out.size(); start += group) {
    const size_t g = start / group;
    float scale = d;
    float offset = -0.0f;  // changes no sum, not even the sign of a zero
    if (spec.mode == ScaleMode::b) {
      offset = m;
    } else if (spec.mode == ScaleMode::d32) {
      scale = d * static_cast<float>(parts.s[g]);
      offset = -(m * static_cast<float>(parts.sm[g]));
    } else if (spec.mode == ScaleMode::d16) {
      scale = d * static_cast<float>(static_cast<int8_t>(parts.s[g]));
    }
    for (size_t i = start; i < start + group; ++i) {
      out[i] = scale * static_cast<float>(parts.codes[i] - spec.zero) + offset;
    }
  }
}

void blank_panel(const PanelSpec& spec, int rows, int cols, std::span<std::byte> panel) {
  CHECK(rows > 0 && rows <= kPanelRows && panel.size() == panel_bytes(spec, cols));
  std::memset(panel.data(), 0, panel.size());
  if (spec.zero == 0) return;
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
  const bool once = spec.mode == ScaleMode::d16 || spec.mode == ScaleMode::d32;
  for (int i = 0; i < values; i += kCodeBlock) {
    const PanelPosition here{at.row, at.col + i};
    store_codes(spec.codec, &parts.codes[i], panel + code_offset(spec, here.col) + 4 * at.row);
    if (i > 0 && once) continue;
    store_scales(spec.mode, parts, here, panel + superblock_offset(spec, here.col));
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
  const bool d = spec.mode == ScaleMode::d16 || spec.mode == ScaleMode::d32;
  const int step = d ? kMaxBlockValues : kCodeBlock;  // columns that share a d
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
