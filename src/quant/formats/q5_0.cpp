// Q5_0: 32 codes of 5 bits and a scale; value = d * (code - 16).
#include "quant/bits.h"
#include "quant/block_format.h"
#include "quant/round_blocks.h"

namespace arion {
namespace {

struct Q5_0 {
  static constexpr std::string_view kName = "Q5_0";
  static constexpr uint32_t kType = 6;
  static constexpr int kValues = 32;
  static constexpr PanelSpec kPanel{Codec::c5, ScaleMode::a, 16};

  struct Block {
    uint16_t d;
    uint8_t qh[4];
    uint8_t qs[16];
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    split_nibbles(block.qs, parts.codes.data());
    split_fifth_bits(block.qh, parts.codes.data());
  }

  static void encode(const BlockSource& source, Block& block) {
    uint8_t codes[32];
    encode_symmetric(source, 16, block.d, codes);
    join_nibbles(codes, block.qs);
    join_fifth_bits(codes, block.qh);
  }
};

}  // namespace

const WeightFormat& format_q5_0() {
  static const BlockFormat<Q5_0> format;
  return format;
}

}  // namespace arion
