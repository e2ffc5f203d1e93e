// IQ1_M: 256 codes of {-1, 0, 1} on a grid of 2048 rows of eight, one scale per 16 values, one
// shift of +-1/8 per row; value = d * (2s + 1) * (code + shift).
#include "quant/block_format.h"
#include "quant/grids.h"

namespace arion {
namespace {

struct IQ1_M {
  static constexpr std::string_view kName = "IQ1_M";
  static constexpr uint32_t kType = 29;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::t3, ScaleMode::d16, kTableZero, CodeTable::iq1};
  static constexpr GridIndex kIndex = index_grid(kIq1Grid);
  static constexpr GridFormat kGrid{kIq1Grid, kIndex, kPanel.table, 8, 16, 7, 8, false};

  struct Block {
    uint8_t rows[32];    // low bits
    uint8_t high[16];    // of two rows each four bits: high bits of the row, then shift -1/8
    uint16_t scales[4];  // bits 3i .. 3i + 2: s of group i; bits 12 .. 15: four bits of d
  };

  static void split(const Block& block, BlockParts& parts) {
    unsigned d = 0;
    for (int i = 0; i < 4; ++i) d |= block.scales[i] >> 12 << 4 * i;
    parts.d = static_cast<uint16_t>(d);
    for (int g = 0; g < 16; ++g) {
      parts.s[g] = static_cast<uint8_t>(2 * (block.scales[g / 4] >> 3 * (g % 4) & 7) + 1);
    }
    for (int i = 0; i < 32; ++i) {
      const int high = block.high[i / 2] >> 4 * (i % 2);
      split_row8(kIq1Grid[block.rows[i] | (high & 7) << 8], (high & 8) != 0 ? 0xff : 0,
                 &parts.codes[8 * i]);
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    const GridCodes codes = encode_grid(kGrid, source);
    for (int i = 0; i < 4; ++i) {
      block.scales[i] = static_cast<uint16_t>((codes.d >> 4 * i & 15) << 12);
    }
    for (int g = 0; g < 16; ++g) {
      block.scales[g / 4] |= static_cast<uint16_t>(codes.s[g] << 3 * (g % 4));
    }
    for (int i = 0; i < 32; ++i) {
      block.rows[i] = static_cast<uint8_t>(codes.row[i]);
      const int high = codes.row[i] >> 8 | (codes.signs[i] & 1) << 3;
      block.high[i / 2] |= static_cast<uint8_t>(high << 4 * (i % 2));
    }
  }
};

}  // namespace

const WeightFormat& format_iq1_m() {
  static const BlockFormat<IQ1_M> format;
  return format;
}

}  // namespace arion
