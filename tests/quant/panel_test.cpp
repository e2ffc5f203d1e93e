// Panels of every format: values unchanged, buffers of the wrong size refused.
#include "quant/panel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <stdexcept>
#include <vector>

#include "format_name.h"
#include "packed.h"
#include "quant/weight_format.h"

namespace arion {
namespace {

using test::packed;
using test::random_bytes;

bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

class EveryPanel : public testing::TestWithParam<const WeightFormat*> {};

TEST_P(EveryPanel, GivesBackTheValuesOfTheFileBitForBit) {
  const WeightFormat& format = *GetParam();
  for (const int cols : {format.block_values(), 33, 96, 576, 640, 768, 2048}) {
    if (cols % format.block_values() != 0) continue;
    for (const int rows : {1, 15, 16, 17, 33}) {
      const size_t row_bytes = format.row_bytes(cols);
      const std::vector<std::byte> file = random_bytes(row_bytes * rows, cols * 64 + rows);
      for (int first = 0; first < rows; first += kPanelRows) {
        const int count = std::min(kPanelRows, rows - first);
        const auto panel =
            packed(format, std::span(file).subspan(first * row_bytes, count * row_bytes), cols);
        std::vector<float> expected(cols), got(cols);
        for (int r = 0; r < kPanelRows; ++r) {
          std::fill(expected.begin(), expected.end(), 0.0f);
          if (r < count) {
            format.decode_row(std::span(file).subspan((first + r) * row_bytes, row_bytes),
                              expected);
          }
          format.unpack_row(panel, r, got);
          for (int c = 0; c < cols; ++c) {
            ASSERT_TRUE(r < count ? same(expected[c], got[c]) : got[c] == 0)
                << rows << "x" << cols << " row " << first + r << " column " << c << ": "
                << expected[c] << " " << got[c];
          }
        }
      }
    }
  }
}

TEST_P(EveryPanel, RefusesBuffersOfTheWrongSize) {
  const WeightFormat& format = *GetParam();
  const int cols = std::max(64, format.block_values());
  const auto rows = random_bytes(format.row_bytes(cols) * 17, 1);
  std::vector<std::byte> panel(panel_bytes(format.panel(), cols));
  std::vector<float> out(cols);
  const std::span one(rows.data(), format.row_bytes(cols));
  EXPECT_THROW(format.pack(rows, cols, panel), std::logic_error);
  EXPECT_THROW(format.pack(one.first(one.size() - 1), cols, panel), std::logic_error);
  EXPECT_THROW(format.pack(one, cols, std::span(panel).first(panel.size() - 1)), std::logic_error);
  EXPECT_THROW(format.unpack_row(panel, 16, out), std::logic_error);
  EXPECT_THROW(format.unpack_row(std::span(panel).first(panel.size() - 1), 0, out),
               std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(Quant, EveryPanel,
                         testing::ValuesIn(weight_formats().begin(), weight_formats().end()),
                         test::format_name);

}  // namespace
}  // namespace arion
