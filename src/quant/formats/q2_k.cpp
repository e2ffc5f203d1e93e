// Q2_K: 256 codes of 2 bits in groups of 16; value = d*s*code - dmin*m.
#include "quant/block_format.h"
#include "quant/k_blocks.h"

namespace arion {
namespace {

struct Q2_K {
  static constexpr std::string_view kName = "Q2_K";
  static constexpr uint32_t kType = 10;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::c2, ScaleMode::d16m, 0};

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
    const KAffineBlock found =
        encode_k_affine(source, {16, 15, {3, -0.5f, 0.1f, 15, ErrorNorm::absolute}, 1});
    block.d = found.d;
    block.dmin = found.dmin;
    for (int g = 0; g < 16; ++g) {
      block.scales[g] = static_cast<uint8_t>(found.s[g] | found.m[g] << 4);
    }
    for (int i = 0; i < 256; ++i) {
      block.qs[i / 128][i % 32] |= static_cast<uint8_t>(found.codes[i] << 2 * (i % 128 / 32));
    }
  }
};

}  // namespace

const WeightFormat& format_q2_k() {
  static const BlockFormat<Q2_K> format;
  return format;
}

}  // namespace arion
