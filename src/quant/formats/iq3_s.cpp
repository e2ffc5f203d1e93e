// IQ3_S: 256 codes of 3 bits on a grid of 512 rows of four, one scale per 32 values;
// value = d * (2s + 1) * code value.
#include "quant/block_format.h"
#include "quant/grids.h"

namespace arion {
namespace {

struct IQ3_S {
  static constexpr std::string_view kName = "IQ3_S";
  static constexpr uint32_t kType = 21;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::t4, ScaleMode::d32s, kTableZero, CodeTable::iq3_s};
  static constexpr GridIndex kIndex = index_grid(kIq3SGrid);
  static constexpr GridFormat kGrid{kIq3SGrid, kIndex, kPanel.table, 4, 32, 15, 1, false};

  struct Block {
    uint16_t d;
    uint8_t rows[64];  // low bits
    uint8_t high[8];   // bit 8 of eight rows
    uint8_t signs[32];
    uint8_t scales[4];  // s of two groups
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (int g = 0; g < 8; ++g) {
      parts.s[g] = static_cast<uint8_t>(2 * (block.scales[g / 2] >> 4 * (g % 2) & 15) + 1);
    }
    for (int i = 0; i < 64; ++i) {
      const int row = block.rows[i] | (block.high[i / 8] >> i % 8 & 1) << 8;
      split_row4(kIq3SGrid[row], block.signs[i / 2] >> 4 * (i % 2), &parts.codes[4 * i]);
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    const GridCodes codes = encode_grid(kGrid, source);
    block.d = codes.d;
    for (int g = 0; g < 8; ++g) {
      block.scales[g / 2] |= static_cast<uint8_t>(codes.s[g] << 4 * (g % 2));
    }
    for (int i = 0; i < 64; ++i) {
      block.rows[i] = static_cast<uint8_t>(codes.row[i]);
      block.high[i / 8] |= static_cast<uint8_t>(codes.row[i] >> 8 << i % 8);
      block.signs[i / 2] |= static_cast<uint8_t>(codes.signs[i] << 4 * (i % 2));
    }
  }
};

}  // namespace

const WeightFormat& format_iq3_s() {
  static const BlockFormat<IQ3_S> format;
  return format;
}

}  // namespace arion
