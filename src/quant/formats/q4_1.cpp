// Q4_1: 32 codes of 4 bits, a scale and a minimum; value = d * code + m.
#include "quant/bits.h"
#include "quant/block_format.h"
#include "quant/round_blocks.h"

namespace arion {
namespace {

struct Q4_1 {
  static constexpr std::string_view kName = "Q4_1";
  static constexpr uint32_t kType = 3;
  static constexpr int kValues = 32;
  static constexpr PanelSpec kPanel{Codec::c4, ScaleMode::b, 0};

  struct Block {
    uint16_t d, m;
    uint8_t qs[16];
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    parts.m = block.m;
    split_nibbles(block.qs, parts.codes.data());
  }

  static void encode(const BlockSource& source, Block& block) {
    uint8_t codes[32];
    encode_affine(source, 15, block.d, block.m, codes);
    join_nibbles(codes, block.qs);
  }
};

}  // namespace

const WeightFormat& format_q4_1() {
  static const BlockFormat<Q4_1> format;
  return format;
}

}  // namespace arion
