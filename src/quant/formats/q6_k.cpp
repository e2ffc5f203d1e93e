// Q6_K: 256 codes of 6 bits in groups of 16; value = d*s*(code - 32).
#include <algorithm>

#include "quant/block_format.h"
#include "quant/k_blocks.h"

namespace arion {
namespace {

struct Q6_K {
  static constexpr std::string_view kName = "Q6_K";
  static constexpr uint32_t kType = 14;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::c6, ScaleMode::d16, 32};

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

  static void encode(const BlockSource& source, Block& block) {
    const KSymmetricBlock found = encode_q6_k(source);
    block.d = found.d;
    std::copy_n(found.s.begin(), 16, block.scales);
    for (int i = 0; i < 256; ++i) {
      const int half = i / 128, c = i % 128 / 32, k = i % 32;
      block.ql[half][32 * (c % 2) + k] |=
          static_cast<uint8_t>((found.codes[i] & 15) << 4 * (c / 2));
      block.qh[half][k] |= static_cast<uint8_t>(found.codes[i] >> 4 << 2 * c);
    }
  }
};

}  // namespace

const WeightFormat& format_q6_k() {
  static const BlockFormat<Q6_K> format;
  return format;
}

}  // namespace arion
