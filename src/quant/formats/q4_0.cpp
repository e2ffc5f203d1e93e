// Q4_0: 32 codes of 4 bits and a scale; value = d * (code - 8).
#include "quant/bits.h"
#include "quant/block_format.h"
#include "quant/round_blocks.h"

namespace arion {
namespace {

struct Q4_0 {
  static constexpr std::string_view kName = "Q4_0";
  static constexpr uint32_t kType = 2;
  static constexpr int kValues = 32;
  static constexpr PanelSpec kPanel{Codec::c4, ScaleMode::a, 8};

  struct Block {
    uint16_t d;
    uint8_t qs[16];
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    split_nibbles(block.qs, parts.codes.data());
  }

  static void encode(const BlockSource& source, std::span<Block> run) {
    const RoundedBlocks found = encode_symmetric(source, run.size(), 8);
    for (size_t i = 0; i < run.size(); ++i) {
      run[i].d = found.d[i];
      join_nibbles(&found.codes[i * kValues], run[i].qs);
    }
  }
};

}  // namespace

const WeightFormat& format_q4_0() {
  static const BlockFormat<Q4_0> format;
  return format;
}

}  // namespace arion
