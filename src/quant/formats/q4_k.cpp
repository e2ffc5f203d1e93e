// Q4_K: 256 codes of 4 bits in groups of 32; value = d*s*code - dmin*m.
#include "quant/block_format.h"
#include "quant/k_blocks.h"

namespace arion {
namespace {

struct Q4_K {
  static constexpr std::string_view kName = "Q4_K";
  static constexpr uint32_t kType = 12;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::c4, ScaleMode::d32, 0};

  struct Block {
    uint16_t d, dmin;
    uint8_t scales[12];
    uint8_t qs[4][32];  // low halves: group 2i, high halves: group 2i + 1
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    parts.m = block.dmin;
    split_k_scales(block.scales, parts);
    for (int i = 0; i < 4; ++i) {
      uint8_t* const codes = &parts.codes[64 * i];
      for (int k = 0; k < 32; ++k) {
        codes[k] = block.qs[i][k] & 15;
        codes[32 + k] = block.qs[i][k] >> 4;
      }
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    const KAffineBlock found = encode_k_affine(source, {32, 63, {15, -1.0f, 0.1f, 20}, 2});
    block.d = found.d;
    block.dmin = found.dmin;
    join_k_scales(found, block.scales);
    for (int i = 0; i < 4; ++i) {
      const uint8_t* const codes = &found.codes[64 * i];
      for (int k = 0; k < 32; ++k) {
        block.qs[i][k] = static_cast<uint8_t>(codes[k] | codes[32 + k] << 4);
      }
    }
  }
};

}  // namespace

const WeightFormat& format_q4_k() {
  static const BlockFormat<Q4_K> format;
  return format;
}

}  // namespace arion
