// Q6_K: 256 codes of 6 bits in groups of 16; value = d*s*(code - 32).
#include <algorithm>
#include <array>
#include <cmath>

#include "base/half.h"
#include "quant/block_format.h"
#include "quant/code_search.h"

namespace arion {
namespace {

struct Q6_K {
  static constexpr std::string_view kName = "Q6_K";
  static constexpr uint32_t kType = 14;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::c6, ScaleMode::d16, 32};
  static constexpr int kGroup = 16;

  // Per half of 128 values, quarter c = 0..3 and k = 0..31: low bits in the low (c < 2) or high
  // half of ql[32 * (c % 2) + k], high bits in bits 2c, 2c + 1 of qh[k].
  struct Block {
    uint8_t ql[2][64];
    uint8_t qh[2][32];
    int8_t scales[16];
    uint16_t d;
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    std::copy_n(block.scales, 16, parts.s.begin());
    for (int i = 0; i < 8; ++i) {
      const int half = i / 4, c = i % 4;
      const uint8_t* const low = &block.ql[half][32 * (c % 2)];
      uint8_t* const codes = &parts.codes[32 * i];
      for (int k = 0; k < 32; ++k) {
        const int nibble = low[k] >> 4 * (c / 2) & 15;
        codes[k] = static_cast<uint8_t>(nibble | (block.qh[half][k] >> 2 * c & 3) << 4);
      }
    }
  }

  static float group_scale(const BlockSource& source, int g) {
    std::array<float, kGroup> weights;
    const std::span<const float> x(source.x + g * kGroup, kGroup);
    for (int i = 0; i < kGroup; ++i) {
      weights[i] = source.importance ? source.importance[g * kGroup + i] : x[i] * x[i];
    }
    return fit_symmetric(x, weights, 32);
  }

  static void encode(const BlockSource& source, Block& block) {
    std::array<float, 16> scales;
    float largest = 0;
    for (int g = 0; g < 16; ++g) {
      scales[g] = group_scale(source, g);
      if (std::fabs(scales[g]) > std::fabs(largest)) largest = scales[g];
    }
    if (std::fabs(largest) < 1e-15f) largest = 0;
    const float inverse = largest == 0 ? 0 : -128 / largest;
    block.d = float_to_half(largest == 0 ? 0 : 1 / inverse);
    for (int g = 0; g < 16; ++g) {
      block.scales[g] = static_cast<int8_t>(std::clamp(nearest(inverse * scales[g]), -128, 127));
      uint8_t codes[kGroup];
      round_to_grid({source.x + g * kGroup, kGroup},
                    {half_to_float(block.d) * block.scales[g], 0, 32, 63}, codes);
      for (int i = 0; i < kGroup; ++i) {
        const int at = g * kGroup + i;
        const int half = at / 128, c = at % 128 / 32, k = at % 32;
        block.ql[half][32 * (c % 2) + k] |= static_cast<uint8_t>((codes[i] & 15) << 4 * (c / 2));
        block.qh[half][k] |= static_cast<uint8_t>(codes[i] >> 4 << 2 * c);
      }
    }
  }
};

}  // namespace

const WeightFormat& format_q6_k() {
  static const BlockFormat<Q6_K> format;
  return format;
}

}  // namespace arion
