// IQ1_S: 256 codes of {-1, 0, 1} on a grid of 2048 rows of eight, one scale and one shift of +-1/8
// per 32 values; value = d * (2s + 1) * (code + shift).
#include "quant/block_format.h"
#include "quant/grids.h"

namespace arion {
namespace {

struct IQ1_S {
  static constexpr std::string_view kName = "IQ1_S";
  static constexpr uint32_t kType = 19;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::t3, ScaleMode::d32s, kTableZero, CodeTable::iq1};
  static constexpr GridIndex kIndex = index_grid(kIq1Grid);
  static constexpr GridFormat kGrid{kIq1Grid, kIndex, kPanel.table, 8, 32, 7, 32, false};

  struct Block {
    uint16_t d;
    uint8_t rows[32];  // low bits
    uint16_t
        groups[8];  // bits 3i .. 3i + 2: high bits of row i; bits 12 .. 14: s; bit 15: shift -1/8
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (int g = 0; g < 8; ++g) {
      const unsigned group = block.groups[g];
      parts.s[g] = static_cast<uint8_t>(2 * (group >> 12 & 7) + 1);
      for (int i = 0; i < 4; ++i) {
        const unsigned row = block.rows[4 * g + i] | (group >> 3 * i & 7) << 8;
        split_row8(kIq1Grid[row], group >> 15 != 0 ? 0xff : 0, &parts.codes[32 * g + 8 * i]);
      }
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    const GridCodes codes = encode_grid(kGrid, source);
    block.d = codes.d;
    for (int g = 0; g < 8; ++g) {
      unsigned group = codes.s[g] << 12 | (codes.signs[4 * g] & 1u) << 15;
      for (int i = 0; i < 4; ++i) {
        block.rows[4 * g + i] = static_cast<uint8_t>(codes.row[4 * g + i]);
        group |= codes.row[4 * g + i] >> 8 << 3 * i;
      }
      block.groups[g] = static_cast<uint16_t>(group);
    }
  }
};

}  // namespace

const WeightFormat& format_iq1_s() {
  static const BlockFormat<IQ1_S> format;
  return format;
}

}  // namespace arion
