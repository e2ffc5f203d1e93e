// Writes computed rows in the forms the linear kernels read: f32, bf16 and int8 tiles.
//
// The int8 form of 32 columns: m = max |x|, scale = m / 127, q = nearest even of x * (127 / m).
// When the scale would not be a normal number all codes and the scale are 0; when an x is infinite
// or NaN the codes are 0 and the scale is NaN, so that the damage shows in the result.
#pragma once
#include "cpu/simd/simd.h"
#include "op/kernel_args.h"

namespace arion::cpu::ARION_ISA {
namespace {

// The tile of row `row` and column block `block` in a matrix of `cols` columns.
ARION_INLINE Int8Tile* int8_tile(std::byte* base, int cols, int row, int block) {
  const size_t blocks = static_cast<size_t>(padded_cols(cols) / kTileCols);
  return reinterpret_cast<Int8Tile*>(base) + static_cast<size_t>(row / kTileRows) * blocks +
         static_cast<size_t>(block);
}

// One row of one tile from two vectors of 16 columns; columns beyond the matrix are zeros.
ARION_INLINE void store_int8_block(F32 left, F32 right, Int8Tile& tile, int lane) {
  const I32 magnitude = I32::set1(0x7fffffff);
  const int32_t max_bits = reduce_max(max(bits(left) & magnitude, bits(right) & magnitude));
  const float absmax = __builtin_bit_cast(float, max_bits);
  const bool is_finite = max_bits < 0x7f800000;
  float scale = absmax / 127.0f;
  const bool is_usable = is_finite && scale >= 0x1p-126f;
  const float inverse = is_usable ? 127.0f / absmax : 0.0f;
  if (!is_usable) scale = is_finite ? 0.0f : __builtin_nanf("");
  // Zeroed lanes, not a product with 0: infinity times 0 would round to a nonzero code.
  const I32 keep = I32::set1(is_usable ? -1 : 0);
  const F32 factor = F32::set1(inverse);
  const I32 a = round_to_i32(left * factor) & keep;
  const I32 b = round_to_i32(right * factor) & keep;
  store_i8(tile.q[lane], a);
  store_i8(tile.q[lane] + 16, b);
  const int32_t sum_a = reduce_add(a), sum_b = reduce_add(b);
  tile.scale[lane] = scale;
  tile.neg_sum[lane] = -(sum_a + sum_b);
  tile.neg_sum_half[0][lane] = -sum_a;
  tile.neg_sum_half[1][lane] = -sum_b;
}

// Columns [begin, begin + count) of row `row`, from x[0 .. count). `begin` is a multiple of 32 and
// count too unless the row ends here; then the padding is written as well.
ARION_INLINE void store_int8(const float* x, int begin, int count, std::byte* base, int cols,
                             int row) {
  const int end = begin + count == cols ? padded_cols(cols) - begin : count;
  Int8Tile* tile = int8_tile(base, cols, row, begin / kTileCols);
  const int lane = row % kTileRows;
  for (int c = 0; c < end; c += kTileCols, ++tile) {
    if (c + kTileCols <= count) {
      store_int8_block(F32::load(x + c), F32::load(x + c + kLanes), *tile, lane);
    } else {
      store_int8_block(F32::load_first(x + c, lanes_left(c, count)),
                       F32::load_first(x + c + kLanes, lanes_left(c + kLanes, count)), *tile, lane);
    }
  }
}

// The same columns in bf16; `base` is the matrix. Padding at the end of the row becomes zero.
ARION_INLINE void store_bf16_columns(const float* x, int begin, int count, std::byte* base,
                                     int cols, int row) {
  const int end = begin + count == cols ? padded_cols(cols) - begin : count;
  const size_t stride = activation_stride(ActivationForm::bf16, cols);
  uint16_t* out = reinterpret_cast<uint16_t*>(base + stride * static_cast<size_t>(row)) + begin;
  for (int c = 0; c < end; c += kLanes) {
    const F32 v = F32::load_first(x + c, lanes_left(c, count));
    store_bf16_first(out + c, v, lanes_left(c, end));
  }
}

ARION_INLINE void store_f32_columns(const float* x, int begin, int count, std::byte* base, int cols,
                                    int row) {
  const int end = begin + count == cols ? padded_cols(cols) - begin : count;
  const size_t stride = activation_stride(ActivationForm::f32, cols);
  float* out = reinterpret_cast<float*>(base + stride * static_cast<size_t>(row)) + begin;
  for (int c = 0; c < end; c += kLanes) {
    const F32 v = F32::load_first(x + c, lanes_left(c, count));
    v.store_first(out + c, lanes_left(c, end));
  }
}

// Columns [begin, begin + count) of a row of `cols` columns, in every form that is wanted.
ARION_INLINE void store_outputs(const Outputs& out, int worker, const float* x, int begin,
                                int count, int cols, int row) {
  if (out.f32) store_f32_columns(x, begin, count, out.f32.at<std::byte>(worker), cols, row);
  if (out.bf16) store_bf16_columns(x, begin, count, out.bf16.at<std::byte>(worker), cols, row);
  if (out.int8) store_int8(x, begin, count, out.int8.at<std::byte>(worker), cols, row);
}

// Row `row` of an f32 matrix, see activation_stride.
ARION_INLINE float* f32_row(const Ref& ref, int worker, int cols, int row) {
  return reinterpret_cast<float*>(ref.at<std::byte>(worker) +
                                  activation_stride(ActivationForm::f32, cols) *
                                      static_cast<size_t>(row));
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
