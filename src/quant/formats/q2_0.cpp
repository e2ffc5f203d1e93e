// Q2_0: 64 codes of 2 bits and a scale; value = d * (code - 1).
#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "quant/block_format.h"
#include "quant/code_search.h"

namespace arion {
namespace {

struct Q2_0 {
  static constexpr std::string_view kName = "Q2_0";
  static constexpr uint32_t kType = 42;
  static constexpr int kValues = 64;
  static constexpr PanelSpec kPanel{Codec::c2, ScaleMode::a64, 1};

  struct Block {
    uint16_t d;
    uint8_t qs[16];  // four codes each, lowest first
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (int i = 0; i < kValues; ++i) parts.codes[i] = block.qs[i / 4] >> 2 * (i % 4) & 3;
  }

  // The largest magnitude gets code 3, which reaches furthest; then least squares for these codes.
  static void encode(const BlockSource& source, Block& block) {
    const std::span<const float> x(source.x, kValues);
    const auto is_smaller = [](float a, float b) { return std::fabs(a) < std::fabs(b); };
    const float step = *std::ranges::max_element(x, is_smaller) / 2;
    uint8_t codes[kValues];
    round_to_grid(x, {step, 0, 1, 3}, codes);
    float along = 0, size = 0;
    for (int i = 0; i < kValues; ++i) {
      const float weight = source.importance ? source.importance[i] : 1;
      const auto value = static_cast<float>(codes[i] - 1);
      along += weight * x[i] * value;
      size += weight * value * value;
    }
    block.d = float_to_half(size > 0 ? along / size : 0);
    round_to_grid(x, {half_to_float(block.d), 0, 1, 3}, codes);
    for (int i = 0; i < kValues; ++i) {
      block.qs[i / 4] |= static_cast<uint8_t>(codes[i] << 2 * (i % 4));
    }
  }
};

}  // namespace

const WeightFormat& format_q2_0() {
  static const BlockFormat<Q2_0> format;
  return format;
}

}  // namespace arion
