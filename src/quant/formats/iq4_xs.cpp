// IQ4_XS: 256 codes of 4 bits on a companding curve in groups of 32; value = d * s * code value.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/half.h"
#include "quant/bits.h"
#include "quant/block_format.h"
#include "quant/code_search.h"
#include "quant/iq4_search.h"

namespace arion {
namespace {

struct IQ4_XS {
  static constexpr std::string_view kName = "IQ4_XS";
  static constexpr uint32_t kType = 23;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::t4, ScaleMode::d32s, kTableZero, CodeTable::iq4};

  struct Block {
    uint16_t d;
    uint16_t scales_high;  // top two bits of the eight s + 32
    uint8_t scales_low[4];
    uint8_t qs[8][16];
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (int g = 0; g < 8; ++g) {
      const int low = block.scales_low[g / 2] >> 4 * (g % 2) & 15;
      const int high = block.scales_high >> 2 * g & 3;
      parts.s[g] = static_cast<uint8_t>((low | high << 4) - 32);
      split_nibbles(block.qs[g], &parts.codes[32 * g]);
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    constexpr int kGroup = 32;
    const Quad spread = Quad{} + 2 * mean_square({source.x, kValues});
    std::array<std::array<Quad, kGroup>, 2> x;
    std::array<Quad, 2> scales;
    float largest = 0;
    for (int half = 0; half < 2; ++half) {
      const int first = half * kQuadLanes * kGroup;
      gather_groups(source.x + first, kGroup, kQuadLanes, x[half].data());
      std::array<Quad, kGroup> weights;
      weigh_iq4(x[half], source.importance ? source.importance + first : nullptr, kQuadLanes,
                spread, weights.data());
      scales[half] = fit_iq4(x[half], weights);
      for (int g = 0; g < kQuadLanes; ++g) {
        if (std::fabs(scales[half][g]) > std::fabs(largest)) largest = scales[half][g];
      }
    }
    const float d = -largest / 32;
    const float inverse = d != 0 ? 1 / d : 0;
    block.d = float_to_half(d);
    for (int half = 0; half < 2; ++half) {
      Quad scale;
      for (int lane = 0; lane < kQuadLanes; ++lane) {
        const int s = std::clamp(nearest(inverse * scales[half][lane]), -32, 31);
        const int g = half * kQuadLanes + lane;
        block.scales_low[g / 2] |= static_cast<uint8_t>(((s + 32) & 15) << 4 * (g % 2));
        block.scales_high |= static_cast<uint16_t>(((s + 32) >> 4) << 2 * g);
        scale[lane] = d * static_cast<float>(s);
      }
      std::array<Quad, kGroup> codes;
      round_to_iq4(x[half], scale, codes.data());
      std::array<uint8_t, kQuadLanes * kGroup> bytes;
      scatter_codes(codes.data(), kGroup, bytes.data());
      for (int lane = 0; lane < kQuadLanes; ++lane) {
        join_nibbles(&bytes[lane * kGroup], block.qs[half * kQuadLanes + lane]);
      }
    }
  }
};

}  // namespace

const WeightFormat& format_iq4_xs() {
  static const BlockFormat<IQ4_XS> format;
  return format;
}

}  // namespace arion
