// Q5_K: 256 codes of 5 bits in groups of 32; value = d*s*code - dmin*m.
#include "quant/block_format.h"
#include "quant/k_blocks.h"

namespace arion {
namespace {

struct Q5_K {
  static constexpr std::string_view kName = "Q5_K";
  static constexpr uint32_t kType = 13;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::c5, ScaleMode::d32, 0};

  struct Block {
    uint16_t d, dmin;
    uint8_t scales[12];
    uint8_t qh[32];     // bit g of byte k: fifth bit of code k of group g
    uint8_t qs[4][32];  // low halves: group 2i, high halves: group 2i + 1
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    parts.m = block.dmin;
    split_k_scales(block.scales, parts);
    for (int g = 0; g < 8; ++g) {
      const uint8_t* const low = block.qs[g / 2];
      uint8_t* const codes = &parts.codes[32 * g];
      for (int k = 0; k < 32; ++k) {
        const int nibble = low[k] >> 4 * (g % 2) & 15;
        codes[k] = static_cast<uint8_t>(nibble | (block.qh[k] >> g & 1) << 4);
      }
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    const KAffineBlock found = encode_k_affine(source, {32, 63, {31, -0.5f, 0.1f, 15}, 2});
    block.d = found.d;
    block.dmin = found.dmin;
    join_k_scales(found, block.scales);
    for (int i = 0; i < 256; ++i) {
      const int g = i / 32, k = i % 32;
      block.qs[g / 2][k] |= static_cast<uint8_t>((found.codes[i] & 15) << 4 * (g % 2));
      block.qh[k] |= static_cast<uint8_t>(found.codes[i] >> 4 << g);
    }
  }
};

}  // namespace

const WeightFormat& format_q5_k() {
  static const BlockFormat<Q5_K> format;
  return format;
}

}  // namespace arion
