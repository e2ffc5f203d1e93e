// How codes and scales of a row go into the bytes of panel.h.
//
// A row's part of every 64-byte line is 4 bytes, so all codecs move 4-byte units: unit q of a row
// goes to byte 4*row of its line. Bits of the four codes in a unit are moved together.
//
// All of it is inlined into the packing of each format, whose codec and mode are constants there:
// what is left of a block are a few loads, shifts and stores.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "quant/panel_pack.h"

namespace arion::packing {

static_assert(std::endian::native == std::endian::little, "files and panels are little endian");

inline constexpr int kLine = 64;
inline constexpr int kCodeBlock = 32;  // columns
inline constexpr int kUnits = kCodeBlock / 4;
inline constexpr int kArray16 = kPanelRows * 2;  // bytes of one array of f16 by row

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

[[gnu::always_inline]] inline size_t superblock_offset(const PanelSpec& spec, int col) {
  const auto width = static_cast<unsigned>(superblock_cols(spec.mode));  // a power of two
  return static_cast<size_t>(col >> std::countr_zero(width)) * superblock_bytes(spec);
}

// Offset of the codes of columns col .. col + 31.
[[gnu::always_inline]] inline size_t code_offset(const PanelSpec& spec, int col) {
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
[[gnu::always_inline]] inline void store_codes(Codec codec, const uint8_t* codes,
                                               std::byte* block) {
  const Units v = load<Units>(codes);
  for_each_bits(codec, [&]<typename B>(B, int line) {
    store_bits<B::shift, B::bits>(v, block + line * kLine);
  });
}

[[gnu::always_inline]] inline bool has_min(ScaleMode mode) {
  return mode == ScaleMode::b || mode == ScaleMode::d16m || mode == ScaleMode::d32;
}

// Columns that share a small scale s.
[[gnu::always_inline]] inline int group_cols(ScaleMode mode) {
  const bool is_short = mode == ScaleMode::d16 || mode == ScaleMode::d16m || mode == ScaleMode::e16;
  return is_short ? 16 : kCodeBlock;
}

// The scales of the part_cols(mode) columns at `at`, whose small scales begin at parts.s[first].
[[gnu::always_inline]] inline void store_scales(ScaleMode mode, const BlockParts& parts,
                                                size_t first, PanelPosition at, std::byte* scales) {
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

// Stores a block of `values` values (a multiple of part_cols) into a blank panel.
[[gnu::always_inline]] inline void store_block(const PanelSpec& spec, const BlockParts& parts,
                                               int values, PanelPosition at, std::byte* panel) {
  for (int i = 0; i < values; i += kCodeBlock) {
    const int col = at.col + i;
    store_codes(spec.codec, &parts.codes[i], panel + code_offset(spec, col) + 4 * at.row);
    if (i % part_cols(spec.mode) != 0) continue;
    store_scales(spec.mode, parts, static_cast<size_t>(i / group_cols(spec.mode)), {at.row, col},
                 panel + superblock_offset(spec, col));
  }
}

}  // namespace arion::packing
