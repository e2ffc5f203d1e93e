// The grids of the IQ formats: rows of codes that were found to be frequent, and how to search
// them.
//
// A row of eight holds levels of two bits, a row of four levels of four bits, the first in the low
// bits. Level l stands for value l of the format's CodeTable.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "quant/block_format.h"

namespace arion {

#include "quant/generated/grids.inc"

// Codes of a row of eight: its levels, with bit i of `signs` as the third bit of code i.
inline void split_row8(uint16_t row, unsigned signs, uint8_t* codes) {
  for (int i = 0; i < 8; ++i) {
    codes[i] = static_cast<uint8_t>((row >> 2 * i & 3) | (signs >> i & 1) << 2);
  }
}

// Codes of a row of four: its levels, with bit i of `signs` as the fourth bit of code i.
inline void split_row4(uint16_t row, unsigned signs, uint8_t* codes) {
  for (int i = 0; i < 4; ++i) {
    codes[i] = static_cast<uint8_t>((row >> 4 * i & 7) | (signs >> i & 1) << 3);
  }
}

// Eight signs of which seven are stored: the number of ones is even.
inline unsigned even_signs(unsigned seven) {
  return seven | static_cast<unsigned>(std::popcount(seven) & 1) << 7;
}

// The rows of a grid in the order of their low bytes, to be searched one low byte at a time.
struct GridIndex {
  struct Row {
    uint16_t number;  // in the grid
    uint16_t high;    // its high byte
  };
  std::array<uint16_t, 257> begin{};  // rows with low byte b: begin[b] .. begin[b + 1]
  std::array<Row, 2048> rows{};
};

template <size_t size>
constexpr GridIndex index_grid(const uint16_t (&grid)[size]) {
  GridIndex index;
  for (const uint16_t row : grid) ++index.begin[(row & 255) + 1];
  for (int b = 0; b < 256; ++b) {
    index.begin[b + 1] = static_cast<uint16_t>(index.begin[b + 1] + index.begin[b]);
  }
  std::array<uint16_t, 257> next = index.begin;
  for (size_t i = 0; i < size; ++i) {
    index.rows[next[grid[i] & 255]++] = {static_cast<uint16_t>(i),
                                         static_cast<uint16_t>(grid[i] >> 8)};
  }
  return index;
}

// How a format makes 256 values of a grid: value = d * (2s + 1) * unit * level of the table.
struct GridFormat {
  std::span<const uint16_t> grid;
  const GridIndex& index;
  CodeTable table;
  int row_size;         // 8 or 4
  int group_size;       // values that share a scale s
  int max_scale;        // largest s
  int sign_period;      // values that share a sign bit; 1 where every value has its own
  bool has_even_signs;  // only even numbers of ones in eight signs
};

struct GridCodes {
  uint16_t d = 0;                   // f16 bits
  std::array<uint8_t, 16> s{};      // by group
  std::array<uint16_t, 64> row{};   // indices into the grid
  std::array<uint8_t, 64> signs{};  // by row: row_size bits
};

// Scales searched by least squares over the rows they give; always the nearest rows.
GridCodes encode_grid(const GridFormat& format, const BlockSource& source);

}  // namespace arion
