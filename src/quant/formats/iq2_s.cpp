// IQ2_S: 256 codes of 2 bits on a grid of 1024 rows of eight, one scale per 16 values;
// value = d * (2s + 1) / 8 * code value.
#include "quant/block_format.h"
#include "quant/grids.h"

namespace arion {
namespace {

struct IQ2_S {
  static constexpr std::string_view kName = "IQ2_S";
  static constexpr uint32_t kType = 22;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::t3, ScaleMode::d16, kTableZero, CodeTable::iq2};
  static constexpr GridIndex kIndex = index_grid(kIq2SGrid);
  static constexpr GridFormat kGrid{kIq2SGrid, kIndex, kPanel.table, 8, 16, 15, 1, false};

  struct Block {
    uint16_t d;
    uint8_t rows[32];  // low bits
    uint8_t signs[32];
    uint8_t high[8];    // bits 8 and 9 of four rows
    uint8_t scales[8];  // s of two groups
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (int g = 0; g < 16; ++g) {
      parts.s[g] = static_cast<uint8_t>(2 * (block.scales[g / 2] >> 4 * (g % 2) & 15) + 1);
    }
    for (int i = 0; i < 32; ++i) {
      const int row = block.rows[i] | (block.high[i / 4] >> 2 * (i % 4) & 3) << 8;
      split_row8(kIq2SGrid[row], block.signs[i], &parts.codes[8 * i]);
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    const GridCodes codes = encode_grid(kGrid, source);
    block.d = codes.d;
    for (int g = 0; g < 16; ++g) {
      block.scales[g / 2] |= static_cast<uint8_t>(codes.s[g] << 4 * (g % 2));
    }
    for (int i = 0; i < 32; ++i) {
      block.rows[i] = static_cast<uint8_t>(codes.row[i]);
      block.high[i / 4] |= static_cast<uint8_t>(codes.row[i] >> 8 << 2 * (i % 4));
      block.signs[i] = codes.signs[i];
    }
  }
};

}  // namespace

const WeightFormat& format_iq2_s() {
  static const BlockFormat<IQ2_S> format;
  return format;
}

}  // namespace arion
