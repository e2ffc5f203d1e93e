// Loads and stores rows of every activation form, by the definition of each.
#include "op/reference_matrix.h"

#include <algorithm>
#include <limits>

#include "base/half.h"

namespace arion {
namespace {

const Int8Tile& tile_of(const std::byte* base, int row, int block, int cols) {
  const auto* tiles = reinterpret_cast<const Int8Tile*>(base);
  return tiles[row / kTileRows * (padded_cols(cols) / kTileCols) + block];
}

// Up to 32 values share one scale. Blocks whose scale is below the normal range are zero; blocks
// with a value that is not finite get a NaN scale, so that the result shows it.
void store_block(Int8Tile& tile, int lane, std::span<const float> x) {
  float largest = 0;
  bool is_finite = true;
  for (const float v : x) {
    is_finite = is_finite && std::isfinite(v);
    largest = std::max(largest, std::fabs(v));
  }
  float scale = largest / 127.0f;
  float inverse = 127.0f / largest;
  if (!is_finite) {
    scale = std::numeric_limits<float>::quiet_NaN();
    inverse = 0;
  } else if (scale < std::numeric_limits<float>::min()) {
    scale = inverse = 0;
  }
  int half_sum[2] = {0, 0};
  for (int k = 0; k < kTileCols; ++k) {
    const bool is_code = inverse != 0 && k < static_cast<int>(x.size());
    const int q = is_code ? static_cast<int>(std::nearbyintf(x[k] * inverse)) : 0;
    tile.q[lane][k] = static_cast<int8_t>(q);
    half_sum[k / 16] += q;
  }
  tile.scale[lane] = scale;
  tile.neg_sum[lane] = -(half_sum[0] + half_sum[1]);
  tile.neg_sum_half[0][lane] = -half_sum[0];
  tile.neg_sum_half[1][lane] = -half_sum[1];
}

}  // namespace

std::vector<double> reference_load(const Ref& ref, ActivationForm form, int row, int cols) {
  std::vector<double> values(cols);
  for (int c = 0; c < cols; ++c) {
    switch (form) {
      case ActivationForm::f32:
        values[c] = reference_row<float>(ref, form, row, cols)[c];
        break;
      case ActivationForm::bf16:
        values[c] = bfloat16_to_float(reference_row<uint16_t>(ref, form, row, cols)[c]);
        break;
      case ActivationForm::int8: {
        const Int8Tile& tile = tile_of(ref.at<std::byte>(0), row, c / kTileCols, cols);
        const int lane = row % kTileRows;
        values[c] = static_cast<double>(tile.scale[lane]) * tile.q[lane][c % kTileCols];
        break;
      }
    }
  }
  return values;
}

void reference_store(const Ref& ref, int row, std::span<const double> values) {
  reference_store(Outputs{.f32 = ref, .bf16 = {}, .int8 = {}}, row, values);
}

void reference_store(const Outputs& out, int row, std::span<const double> values) {
  const int cols = static_cast<int>(values.size());
  std::vector<float> rounded(padded_cols(cols));  // the padding stays zero
  for (int c = 0; c < cols; ++c) rounded[c] = static_cast<float>(values[c]);
  if (out.f32) {
    float* to = reference_row<float>(out.f32, ActivationForm::f32, row, cols);
    std::copy(rounded.begin(), rounded.end(), to);
  }
  if (out.bf16) {
    uint16_t* to = reference_row<uint16_t>(out.bf16, ActivationForm::bf16, row, cols);
    for (size_t c = 0; c < rounded.size(); ++c) to[c] = float_to_bfloat16(rounded[c]);
  }
  if (out.int8) {
    for (int block = 0; block * kTileCols < padded_cols(cols); ++block) {
      const Int8Tile& tile = tile_of(out.int8.at<std::byte>(0), row, block, cols);
      const auto begin = rounded.begin() + block * kTileCols;
      store_block(const_cast<Int8Tile&>(tile), row % kTileRows, {begin, begin + kTileCols});
    }
  }
}

}  // namespace arion
