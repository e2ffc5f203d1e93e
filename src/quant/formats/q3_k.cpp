// Q3_K: 256 codes of 3 bits in groups of 16; value = d*s*(code - 4).
#include "quant/block_format.h"
#include "quant/k_blocks.h"

namespace arion {
namespace {

struct Q3_K {
  static constexpr std::string_view kName = "Q3_K";
  static constexpr uint32_t kType = 11;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::c3, ScaleMode::d16, 4};

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
    const KSymmetricBlock found = encode_q3_k(source);
    block.d = found.d;
    for (int g = 0; g < 16; ++g) {
      const int s = found.s[g] + 32;
      block.scales[g % 8] |= static_cast<uint8_t>((s & 15) << 4 * (g / 8));
      block.scales[8 + g % 4] |= static_cast<uint8_t>(s >> 4 << 2 * (g / 4));
    }
    for (int i = 0; i < 256; ++i) {
      const int code = found.codes[i];
      block.qs[i / 128][i % 32] |= static_cast<uint8_t>((code & 3) << 2 * (i % 128 / 32));
      block.high[i % 32] |= static_cast<uint8_t>(code >> 2 << i / 32);
    }
  }
};

}  // namespace

const WeightFormat& format_q3_k() {
  static const BlockFormat<Q3_K> format;
  return format;
}

}  // namespace arion
