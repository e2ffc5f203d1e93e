// TQ2_0: 256 codes of {-1, 0, 1} in 2 bits each and a scale; value = d * (code - 1).
#include "quant/block_format.h"
#include "quant/ternary.h"

namespace arion {
namespace {

struct TQ2_0 {
  static constexpr std::string_view kName = "TQ2_0";
  static constexpr uint32_t kType = 35;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::c2, ScaleMode::a128, 1};

  struct Block {
    uint8_t qs[2][32];  // bits 2c, 2c + 1 of byte k: code k of quarter c of a half of 128
    uint16_t d;
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (int i = 0; i < 256; ++i) {
      parts.codes[i] = block.qs[i / 128][i % 32] >> 2 * (i % 128 / 32) & 3;
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    uint8_t codes[256];
    encode_ternary(source, block.d, codes);
    for (int half = 0; half < 2; ++half) {
      const uint8_t* const quarter = &codes[128 * half];
      for (int k = 0; k < 32; ++k) {
        block.qs[half][k] = static_cast<uint8_t>(quarter[k] | quarter[32 + k] << 2 |
                                                 quarter[64 + k] << 4 | quarter[96 + k] << 6);
      }
    }
  }
};

}  // namespace

const WeightFormat& format_tq2_0() {
  static const BlockFormat<TQ2_0> format;
  return format;
}

}  // namespace arion
