// TQ1_0: 256 codes of {-1, 0, 1}, five in a byte, and a scale; value = d * (code - 1).
#include "quant/block_format.h"
#include "quant/ternary.h"

namespace arion {
namespace {

struct TQ1_0 {
  static constexpr std::string_view kName = "TQ1_0";
  static constexpr uint32_t kType = 34;
  static constexpr int kValues = 256;
  static constexpr PanelSpec kPanel{Codec::c2, ScaleMode::a128, 1};

  struct Block {
    uint8_t qs[52];  // runs of 32, 16 and 4 bytes, see kRuns
    uint16_t d;
  };

  // Digit n of byte k of a run is code first_code + n * bytes + k.
  struct Run {
    int first_byte, bytes, digits, first_code;
  };
  static constexpr Run kRuns[] = {{0, 32, 5, 0}, {32, 16, 5, 160}, {48, 4, 4, 240}};

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (const Run& run : kRuns) {
      for (int k = 0; k < run.bytes; ++k) {
        // A byte is a fraction of 256: its leading digit in base 3, then the rest times 3.
        uint8_t fraction = block.qs[run.first_byte + k];
        for (int n = 0; n < run.digits; ++n) {
          parts.codes[run.first_code + n * run.bytes + k] = static_cast<uint8_t>(fraction * 3 >> 8);
          fraction = static_cast<uint8_t>(fraction * 3);
        }
      }
    }
  }

  static void encode(const BlockSource& source, Block& block) {
    uint8_t codes[256];
    encode_ternary(source, block.d, codes);
    for (const Run& run : kRuns) {
      for (int k = 0; k < run.bytes; ++k) {
        int number = 0;  // of five digits
        for (int n = 0; n < 5; ++n) {
          const int digit = n < run.digits ? codes[run.first_code + n * run.bytes + k] : 0;
          number = number * 3 + digit;
        }
        block.qs[run.first_byte + k] = static_cast<uint8_t>((number * 256 + 242) / 243);
      }
    }
  }
};

}  // namespace

const WeightFormat& format_tq1_0() {
  static const BlockFormat<TQ1_0> format;
  return format;
}

}  // namespace arion
