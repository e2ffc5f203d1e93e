// Q2_K: 256 codes of 2 bits in groups of 16; value = d*s*code - dmin*m.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/half.h"
#include "quant/block_format.h"
#include "quant/code_search.h"

namespace arion {
namespace {

struct Q2_K {
  static constexpr std::string_view kName = "Q2_K";
  static constexpr uint32_t kType = 10;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::c2, ScaleMode::d16m, 0};
  static constexpr int kGroup = 16;

  struct Block {
    uint8_t scales[16];  // s | m << 4
    uint8_t qs[2][32];   // bits 2c, 2c + 1 of byte k: code k of quarter c of a half of 128
    uint16_t d, dmin;
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    parts.m = block.dmin;
    for (int g = 0; g < 16; ++g) {
      parts.s[g] = block.scales[g] & 15;
      parts.sm[g] = block.scales[g] >> 4;
    }
    for (int i = 0; i < 256; ++i) {
      parts.codes[i] = block.qs[i / 128][i % 32] >> 2 * (i % 128 / 32) & 3;
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    std::array<float, 16> scales, mins;
    for (int g = 0; g < 16; ++g) {
      const std::span<const float> x(source.x + g * kGroup, kGroup);
      std::array<float, kGroup> weights;
      for (int i = 0; i < kGroup; ++i) {
        weights[i] = source.importance ? source.importance[g * kGroup + i] : std::fabs(x[i]);
      }
      const Affine fit = fit_affine(x, weights, 3, {-0.5f, 0.1f, 15});
      scales[g] = fit.scale;
      mins[g] = -fit.min;
    }
    const float scale = *std::ranges::max_element(scales) / 15;
    const float min = *std::ranges::max_element(mins) / 15;
    block.d = float_to_half(scale);
    block.dmin = float_to_half(min);
    for (int g = 0; g < 16; ++g) {
      const int s = scale > 0 ? std::clamp(nearest(scales[g] / scale), 0, 15) : 0;
      const int m = min > 0 ? std::clamp(nearest(mins[g] / min), 0, 15) : 0;
      block.scales[g] = static_cast<uint8_t>(s | m << 4);
      uint8_t codes[kGroup];
      const Grid grid{half_to_float(block.d) * static_cast<float>(s),
                      -(half_to_float(block.dmin) * static_cast<float>(m)), 0, 3};
      round_to_grid({source.x + g * kGroup, kGroup}, grid, codes);
      for (int k = 0; k < kGroup; ++k) {
        const int i = g * kGroup + k;
        block.qs[i / 128][i % 32] |= static_cast<uint8_t>(codes[k] << 2 * (i % 128 / 32));
      }
    }
  }
};

}  // namespace

const WeightFormat& format_q2_k() {
  static const BlockFormat<Q2_K> format;
  return format;
}

}  // namespace arion
