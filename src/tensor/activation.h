// How a matrix of activations [rows, cols] lies in memory for the linear kernels.
//
//   f32     row-major, row stride `activation_stride` bytes, columns padded with zeros
//   bf16    the same with 2-byte elements
//   int8    tiles of 16 rows x 32 columns (struct Int8Tile), tiles of one row group one after the
//           other: group g, column block b at ((g * blocks) + b) * sizeof(Int8Tile)
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace arion {

enum class ActivationForm : uint8_t { f32, bf16, int8 };

constexpr std::string_view activation_form_name(ActivationForm form) {
  switch (form) {
    case ActivationForm::f32:
      return "f32";
    case ActivationForm::bf16:
      return "bf16";
    case ActivationForm::int8:
      return "int8";
  }
  return "?";
}

inline constexpr int kTileRows = 16;  // rows of one int8 tile
inline constexpr int kTileCols = 32;  // columns sharing one activation scale

// Column padding: the largest superblock a linear kernel walks (mode D, 256 columns) reads whole
// tiles, so rows end with zero blocks up to a multiple of kActivationPad.
inline constexpr int kActivationPad = 64;

// 16 rows x 32 columns of signed codes. The value of row r, column k is scale[r] * q[r][k].
// Row r alone determines its own entries; rows beyond the batch hold stale data,
// which no result depends on.
struct alignas(64) Int8Tile {
  int8_t q[kTileRows][kTileCols];
  float scale[kTileRows];              // absmax / 127
  int32_t neg_sum[kTileRows];          // -sum of q over the 32 columns
  int32_t neg_sum_half[2][kTileRows];  // the same over columns 0-15 and 16-31
};
static_assert(sizeof(Int8Tile) == 768);

constexpr int round_up(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
constexpr size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

constexpr int padded_cols(int cols) {
  return round_up(cols, kActivationPad);
}

// Bytes between rows of an f32 or bf16 matrix. Never a multiple of 4096: rows of one tile would
// otherwise compete for the same sets of the L1 cache.
constexpr size_t activation_stride(ActivationForm form, int cols) {
  const size_t bytes =
      static_cast<size_t>(padded_cols(cols)) * (form == ActivationForm::bf16 ? 2 : 4);
  return bytes % 4096 == 0 ? bytes + 64 : bytes;
}

// Bytes of a whole matrix of up to `rows` rows.
constexpr size_t activation_bytes(ActivationForm form, int rows, int cols) {
  if (form != ActivationForm::int8)
    return static_cast<size_t>(rows) * activation_stride(form, cols);
  return static_cast<size_t>(round_up(rows, kTileRows) / kTileRows) *
         static_cast<size_t>(padded_cols(cols) / kTileCols) * sizeof(Int8Tile);
}

}  // namespace arion
