// IQ2_XS: 256 codes of 2 bits on a grid of 512 rows of eight, one scale per 16 values;
// value = d * (2s + 1) / 8 * code value.
#include "quant/block_format.h"
#include "quant/grids.h"

namespace arion {
namespace {

struct IQ2_XS {
  static constexpr std::string_view kName = "IQ2_XS";
  static constexpr uint32_t kType = 17;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::t3, ScaleMode::d16, kTableZero, CodeTable::iq2};
  static constexpr GridIndex kIndex = index_grid(kIq2XsGrid);
  static constexpr GridFormat kGrid{kIq2XsGrid, kIndex, kPanel.table, 8, 16, 15, 1, true};

  struct Block {
    uint16_t d;
    uint16_t rows[32];  // bits 0 .. 8: row, bits 9 .. 15: its signs
    uint8_t scales[8];  // s of two groups
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (int g = 0; g < 16; ++g) {
      parts.s[g] = static_cast<uint8_t>(2 * (block.scales[g / 2] >> 4 * (g % 2) & 15) + 1);
    }
    for (int i = 0; i < 32; ++i) {
      split_row8(kIq2XsGrid[block.rows[i] & 511], even_signs(block.rows[i] >> 9),
                 &parts.codes[8 * i]);
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    const GridCodes codes = encode_grid(kGrid, source);
    block.d = codes.d;
    for (int g = 0; g < 16; ++g) {
      block.scales[g / 2] |= static_cast<uint8_t>(codes.s[g] << 4 * (g % 2));
    }
    for (int i = 0; i < 32; ++i) {
      block.rows[i] = static_cast<uint16_t>(codes.row[i] | (codes.signs[i] & 127) << 9);
    }
  }
};

}  // namespace

const WeightFormat& format_iq2_xs() {
  static const BlockFormat<IQ2_XS> format;
  return format;
}

}  // namespace arion
