// IQ3_XXS: 256 codes of 3 bits on a grid of 256 rows of four, one scale per 32 values;
// value = d * (2s + 1) / 4 * code value.
#include "quant/bits.h"
#include "quant/block_format.h"
#include "quant/grids.h"

namespace arion {
namespace {

struct IQ3_XXS {
  static constexpr std::string_view kName = "IQ3_XXS";
  static constexpr uint32_t kType = 18;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::t4, ScaleMode::d32s, kTableZero, CodeTable::iq3_xxs};
  static constexpr GridIndex kIndex = index_grid(kIq3XxsGrid);
  static constexpr GridFormat kGrid{kIq3XxsGrid, kIndex, kPanel.table, 4, 32, 15, 1, true};

  struct Block {
    uint16_t d;
    uint8_t rows[64];
    uint8_t signs[8][4];  // bits 7i .. 7i + 6: signs of rows 2i and 2i + 1; bits 28 .. 31: s
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (int g = 0; g < 8; ++g) {
      const uint32_t bits = load_u32(block.signs[g]);
      parts.s[g] = static_cast<uint8_t>(2 * (bits >> 28) + 1);
      for (int i = 0; i < 4; ++i) {
        const unsigned signs = even_signs(bits >> 7 * i & 127);
        const uint8_t* const rows = &block.rows[8 * g + 2 * i];
        split_row4(kIq3XxsGrid[rows[0]], signs & 15, &parts.codes[32 * g + 8 * i]);
        split_row4(kIq3XxsGrid[rows[1]], signs >> 4, &parts.codes[32 * g + 8 * i + 4]);
      }
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    const GridCodes codes = encode_grid(kGrid, source);
    block.d = codes.d;
    for (int g = 0; g < 8; ++g) {
      uint32_t bits = uint32_t{codes.s[g]} << 28;
      for (int i = 0; i < 8; ++i) {
        const int row = 8 * g + i;
        block.rows[row] = static_cast<uint8_t>(codes.row[row]);
        const unsigned signs = codes.signs[row] & (i % 2 == 0 ? 15u : 7u);
        bits |= signs << (7 * (i / 2) + 4 * (i % 2));
      }
      store_u32(bits, block.signs[g]);
    }
  }
};

}  // namespace

const WeightFormat& format_iq3_xxs() {
  static const BlockFormat<IQ3_XXS> format;
  return format;
}

}  // namespace arion
