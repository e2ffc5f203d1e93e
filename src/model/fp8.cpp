// A table of 256 values, then one multiplication per weight.
#include "model/fp8.h"

#include <array>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/half.h"
#include "io/gguf_metadata.h"

namespace arion {
namespace {

constexpr uint64_t kBlock = 128;

float decode_e4m3(uint8_t byte) {
  const int exponent = byte >> 3 & 15, fraction = byte & 7;
  if (exponent == 15 && fraction == 7) return std::nanf("");
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(fraction), -9)
                              : std::ldexp(1.0f + static_cast<float>(fraction) / 8, exponent - 7);
  return byte & 0x80 ? -magnitude : magnitude;
}

std::array<float, 256> decode_table(std::string_view dtype) {
  std::array<float, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    table[byte] = dtype == "F8_E4M3" ? decode_e4m3(static_cast<uint8_t>(byte))
                                     : half_to_float(static_cast<uint16_t>(byte << 8));
  }
  return table;
}

// Scale factors with what a position in the weight needs to find its own.
struct Scales {
  std::vector<float> values;
  uint64_t row_block = 1, col_block = 1;
  uint64_t cols = 1;  // values per row of blocks

  float at(uint64_t row, uint64_t col) const {
    return values[row / row_block * cols + col / col_block];
  }
};

}  // namespace

bool is_fp8(std::string_view dtype) {
  return dtype == "F8_E4M3" || dtype == "F8_E5M2";
}

float load_float_value(const std::byte* from, std::string_view dtype) {
  if (dtype == "F32") {
    float value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return dtype == "F16" ? half_to_float(bits) : bfloat16_to_float(bits);
}

std::vector<float> expand_fp8(const SafetensorsTensor& weight, const SafetensorsTensor* block_scale,
                              const SafetensorsTensor* scale, const std::string& file) {
  const uint64_t cols = weight.shape.back();
  const uint64_t rows = weight.data.size() / cols;
  Scales scales{.values = {1.0f}, .row_block = rows, .col_block = cols, .cols = 1};
  uint64_t expected = 1;
  const SafetensorsTensor* source = block_scale != nullptr ? block_scale : scale;
  if (block_scale != nullptr) {
    scales.row_block = scales.col_block = kBlock;
    scales.cols = (cols + kBlock - 1) / kBlock;
    expected = (rows + kBlock - 1) / kBlock * scales.cols;
  }
  if (source != nullptr) {
    if (source->dtype != "F32" && source->dtype != "BF16" && source->dtype != "F16") {
      fail(ErrorCode::bad_input, "{}: tensor {} has type {}, expected F32, F16 or BF16", file,
           printable(source->name), source->dtype);
    }
    const size_t bytes = source->dtype == "F32" ? 4 : 2;
    const uint64_t count = source->data.size() / bytes;
    if (block_scale == nullptr && count == rows && rows > 1) {
      expected = rows;
      scales.row_block = 1;
    }
    if (count != expected) {
      fail(ErrorCode::bad_input, "{}: tensor {} has {} values, expected {}", file,
           printable(source->name), count, expected);
    }
    scales.values.resize(count);
    for (uint64_t i = 0; i < count; ++i) {
      scales.values[i] = load_float_value(source->data.data() + i * bytes, source->dtype);
    }
  }
  const std::array<float, 256> table = decode_table(weight.dtype);
  std::vector<float> values(weight.data.size());
  for (uint64_t row = 0; row < rows; ++row) {
    for (uint64_t col = 0; col < cols; ++col) {
      const auto byte = static_cast<uint8_t>(weight.data[row * cols + col]);
      values[row * cols + col] = table[byte] * scales.at(row, col);
    }
  }
  return values;
}

}  // namespace arion
