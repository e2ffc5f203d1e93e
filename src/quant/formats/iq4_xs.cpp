// IQ4_XS: 256 codes of 4 bits on a companding curve in groups of 32; value = d * s * code value.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/half.h"
#include "quant/bits.h"
#include "quant/block_format.h"
#include "quant/code_search.h"

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
    const CodeValues& table = code_values(kPanel.table);
    std::array<float, 8> scales;
    float largest = 0;
    for (int g = 0; g < 8; ++g) {
      scales[g] = fit_table({source.x + 32 * g, 32},
                            source.importance ? source.importance + 32 * g : nullptr, table);
      if (std::fabs(scales[g]) > std::fabs(largest)) largest = scales[g];
    }
    const float d = largest / -32;
    block.d = float_to_half(d);
    for (int g = 0; g < 8; ++g) {
      const int s = d == 0 ? 0 : std::clamp(nearest(scales[g] / d), -32, 31);
      block.scales_low[g / 2] |= static_cast<uint8_t>(((s + 32) & 15) << 4 * (g % 2));
      block.scales_high |= static_cast<uint16_t>(((s + 32) >> 4) << 2 * g);
      uint8_t codes[32];
      for (int i = 0; i < 32; ++i) {
        const float scale = half_to_float(block.d) * static_cast<float>(s);
        codes[i] = nearest_code(table, scale, source.x[32 * g + i]);
      }
      join_nibbles(codes, block.qs[g]);
    }
  }
};

}  // namespace

const WeightFormat& format_iq4_xs() {
  static const BlockFormat<IQ4_XS> format;
  return format;
}

}  // namespace arion
