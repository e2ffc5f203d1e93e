// Q5_1: 32 codes of 5 bits, a scale and a minimum; value = d * code + m.
#include "quant/bits.h"
#include "quant/block_format.h"
#include "quant/round_blocks.h"

namespace arion {
namespace {

struct Q5_1 {
  static constexpr std::string_view kName = "Q5_1";
  static constexpr uint32_t kType = 7;
  static constexpr int kValues = 32;
  static constexpr PanelSpec kPanel{Codec::c5, ScaleMode::b, 0};

  struct Block {
    uint16_t d, m;
    uint8_t qh[4];
    uint8_t qs[16];
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    parts.m = block.m;
    split_nibbles(block.qs, parts.codes.data());
    split_fifth_bits(block.qh, parts.codes.data());
  }

  static void encode(const BlockSource& source, std::span<Block> run) {
    const RoundedBlocks found = encode_affine(source, run.size(), 31);
    for (size_t i = 0; i < run.size(); ++i) {
      run[i].d = found.d[i];
      run[i].m = found.m[i];
      join_nibbles(&found.codes[i * kValues], run[i].qs);
      join_fifth_bits(&found.codes[i * kValues], run[i].qh);
    }
  }
};

}  // namespace

const WeightFormat& format_q5_1() {
  static const BlockFormat<Q5_1> format;
  return format;
}

}  // namespace arion
