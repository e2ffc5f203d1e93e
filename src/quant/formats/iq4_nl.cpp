// IQ4_NL: 32 codes of 4 bits on a companding curve and a scale; value = d * code value.
#include "base/half.h"
#include "quant/bits.h"
#include "quant/block_format.h"
#include "quant/code_search.h"

namespace arion {
namespace {

struct IQ4_NL {
  static constexpr std::string_view kName = "IQ4_NL";
  static constexpr uint32_t kType = 20;
  static constexpr int kValues = 32;
  static constexpr PanelSpec kPanel{Codec::t4, ScaleMode::a, kTableZero, CodeTable::iq4};

  struct Block {
    uint16_t d;
    uint8_t qs[16];
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    split_nibbles(block.qs, parts.codes.data());
  }

  static void encode(const BlockSource& source, Block& block) {
    const CodeValues& table = code_values(kPanel.table);
    block.d = float_to_half(fit_table({source.x, kValues}, source.importance, table));
    uint8_t codes[32];
    for (int i = 0; i < 32; ++i) {
      codes[i] = nearest_code(table, half_to_float(block.d), source.x[i]);
    }
    join_nibbles(codes, block.qs);
  }
};

}  // namespace

const WeightFormat& format_iq4_nl() {
  static const BlockFormat<IQ4_NL> format;
  return format;
}

}  // namespace arion
