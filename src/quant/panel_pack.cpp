// Panels back into values, and those of whole words.
#include "quant/panel_pack.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/half.h"
#include "quant/panel_store.h"
#include "quant/small_floats.h"

namespace arion {
namespace {

using namespace packing;

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

void load_codes(Codec codec, const std::byte* block, uint8_t* codes) {
  Units v{};
  for_each_bits(codec, [&]<typename B>(B, int line) {
    load_bits<B::shift, B::bits>(block + line * kLine, v);
  });
  std::memcpy(codes, v.data(), sizeof v);
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
