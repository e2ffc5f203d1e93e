// Rows of random bytes, and rows as panels.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "quant/weight_format.h"

namespace arion::test {

inline std::vector<std::byte> random_bytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

// The panel of `rows`, with guard bytes behind it that must stay.
inline std::vector<std::byte> packed(const WeightFormat& format, std::span<const std::byte> rows,
                                     int cols) {
  const size_t size = panel_bytes(format.panel(), cols);
  std::vector<std::byte> panel(size + 64, std::byte{0xee});
  format.pack(rows, cols, std::span(panel).first(size));
  EXPECT_TRUE(std::all_of(panel.begin() + size, panel.end(),
                          [](std::byte b) { return b == std::byte{0xee}; }));
  panel.resize(size);
  return panel;
}

}  // namespace arion::test
