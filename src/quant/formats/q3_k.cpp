// Q3_K: 256 codes of 3 bits in groups of 16; value = d*s*(code - 4).
#include <algorithm>
#include <array>
#include <cmath>

#include "base/half.h"
#include "quant/block_format.h"
#include "quant/code_search.h"

namespace arion {
namespace {

struct Q3_K {
  static constexpr std::string_view kName = "Q3_K";
  static constexpr uint32_t kType = 11;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::c3, ScaleMode::d16, 4};
  static constexpr int kGroup = 16;

  struct Block {
    uint8_t high[32];    // bit c of byte k: third bit of code 32c + k
    uint8_t qs[2][32];   // bits 2c, 2c + 1 of byte k: code k of quarter c of a half of 128
    uint8_t scales[12];  // s + 32: low halves of 0-7, high halves of 8-15, then the top two bits
    uint16_t d;
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (int g = 0; g < 16; ++g) {
      const int low = block.scales[g % 8] >> 4 * (g / 8) & 15;
      const int high = block.scales[8 + g % 4] >> 2 * (g / 4) & 3;
      parts.s[g] = static_cast<uint8_t>((low | high << 4) - 32);
    }
    for (int i = 0; i < 256; ++i) {
      const int low = block.qs[i / 128][i % 32] >> 2 * (i % 128 / 32) & 3;
      parts.codes[i] = static_cast<uint8_t>(low | (block.high[i % 32] >> i / 32 & 1) << 2);
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    std::array<float, 16> scales;
    float largest = 0;
    for (int g = 0; g < 16; ++g) {
      const std::span<const float> x(source.x + g * kGroup, kGroup);
      std::array<float, kGroup> weights;
      for (int i = 0; i < kGroup; ++i) {
        weights[i] = source.importance ? source.importance[g * kGroup + i] : x[i] * x[i];
      }
      scales[g] = fit_symmetric(x, weights, 4);
      if (std::fabs(scales[g]) > std::fabs(largest)) largest = scales[g];
    }
    const float d = largest / -32;
    block.d = float_to_half(d);
    for (int g = 0; g < 16; ++g) {
      const int s = d == 0 ? 0 : std::clamp(nearest(scales[g] / d), -32, 31);
      block.scales[g % 8] |= static_cast<uint8_t>(((s + 32) & 15) << 4 * (g / 8));
      block.scales[8 + g % 4] |= static_cast<uint8_t>(((s + 32) >> 4) << 2 * (g / 4));
      uint8_t codes[kGroup];
      round_to_grid({source.x + g * kGroup, kGroup},
                    {half_to_float(block.d) * static_cast<float>(s), 0, 4, 7}, codes);
      for (int k = 0; k < kGroup; ++k) {
        const int i = g * kGroup + k;
        block.qs[i / 128][i % 32] |= static_cast<uint8_t>((codes[k] & 3) << 2 * (i % 128 / 32));
        block.high[i % 32] |= static_cast<uint8_t>(codes[k] >> 2 << i / 32);
      }
    }
  }
};

}  // namespace

const WeightFormat& format_q3_k() {
  static const BlockFormat<Q3_K> format;
  return format;
}

}  // namespace arion
