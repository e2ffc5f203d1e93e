// IQ2_XXS: 256 codes of 2 bits on a grid of 256 rows of eight, one scale per 32 values;
// value = d * (2s + 1) / 8 * code value.
#include "quant/bits.h"
#include "quant/block_format.h"
#include "quant/grids.h"

namespace arion {
namespace {

struct IQ2_XXS {
  static constexpr std::string_view kName = "IQ2_XXS";
  static constexpr uint32_t kType = 16;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::t3, ScaleMode::d32s, kTableZero, CodeTable::iq2};
  static constexpr GridIndex kIndex = index_grid(kIq2XxsGrid);
  static constexpr GridFormat kGrid{kIq2XxsGrid, kIndex, kPanel.table, 8, 32, 15, 1, true};

  struct Block {
    uint16_t d;
    struct {
      uint8_t rows[4];
      uint8_t signs[4];  // bits 7i .. 7i + 6: signs of row i; bits 28 .. 31: s
    } groups[8];
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (int g = 0; g < 8; ++g) {
      const uint32_t signs = load_u32(block.groups[g].signs);
      parts.s[g] = static_cast<uint8_t>(2 * (signs >> 28) + 1);
      for (int i = 0; i < 4; ++i) {
        split_row8(kIq2XxsGrid[block.groups[g].rows[i]], even_signs(signs >> 7 * i & 127),
                   &parts.codes[32 * g + 8 * i]);
      }
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    const GridCodes codes = encode_grid(kGrid, source);
    block.d = codes.d;
    for (int g = 0; g < 8; ++g) {
      uint32_t signs = uint32_t{codes.s[g]} << 28;
      for (int i = 0; i < 4; ++i) {
        block.groups[g].rows[i] = static_cast<uint8_t>(codes.row[4 * g + i]);
        signs |= (codes.signs[4 * g + i] & 127u) << 7 * i;
      }
      store_u32(signs, block.groups[g].signs);
    }
  }
};

}  // namespace

const WeightFormat& format_iq2_xxs() {
  static const BlockFormat<IQ2_XXS> format;
  return format;
}

}  // namespace arion
