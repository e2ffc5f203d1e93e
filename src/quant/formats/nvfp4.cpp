// NVFP4: 64 numbers E2M1 in groups of 16 with a scale E4M3 each; value = e / 2 * code value. Files
// carry a factor for the whole matrix beside it, the tensor NAME.scale.
#include "quant/block_format.h"
#include "quant/fp4_search.h"
#include "quant/small_floats.h"

namespace arion {
namespace {

struct NVFP4 {
  static constexpr std::string_view kName = "NVFP4";
  static constexpr uint32_t kType = 40;
  static constexpr int kValues = 64;
  static constexpr PanelSpec kPanel{Codec::t4, ScaleMode::e16, kTableZero, CodeTable::fp4};
  static constexpr uint8_t kNaN = 127;  // files mean zero by it

  struct Block {
    uint8_t scales[4];
    uint8_t qs[4][8];  // low halves: values 0 .. 7 of the group, high halves: 8 .. 15
  };

  static void split(const Block& block, BlockParts& parts) {
    for (int g = 0; g < 4; ++g) {
      parts.s[g] = block.scales[g] == kNaN ? 0 : block.scales[g] & 127;
      for (int k = 0; k < 8; ++k) {
        parts.codes[16 * g + k] = block.qs[g][k] & 15;
        parts.codes[16 * g + 8 + k] = block.qs[g][k] >> 4;
      }
    }
  }

  // The largest value becomes E2M1's largest, 6. Importance cannot matter.
  static void encode(const BlockSource& source, Block& block) {
    for (int g = 0; g < 4; ++g) {
      const float* const x = source.x + 16 * g;
      block.scales[g] = nearest_ue4m3(largest_magnitude(x, 16) / 6);
      uint8_t codes[16];
      round_to_fp4({x, 16}, half_ue4m3(block.scales[g]), codes);
      for (int k = 0; k < 8; ++k) {
        block.qs[g][k] = static_cast<uint8_t>(codes[k] | codes[8 + k] << 4);
      }
    }
  }
};

}  // namespace

const WeightFormat& format_nvfp4() {
  static const BlockFormat<NVFP4> format;
  return format;
}

}  // namespace arion
