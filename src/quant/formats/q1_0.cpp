// Q1_0: 128 signs and a scale; value = +d or -d.
#include <cmath>

#include "base/half.h"
#include "quant/block_format.h"

namespace arion {
namespace {

struct Q1_0 {
  static constexpr std::string_view kName = "Q1_0";
  static constexpr uint32_t kType = 41;
  static constexpr int kValues = 128;
  static constexpr PanelSpec kPanel{Codec::c1, ScaleMode::a128, 1};

  struct Block {
    uint16_t d;
    uint8_t bits[16];  // lowest first; ones are positive
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (int i = 0; i < kValues; ++i) {
      parts.codes[i] = static_cast<uint8_t>((block.bits[i / 8] >> i % 8 & 1) << 1);
    }
  }

  // The mean magnitude has the least squared error, in ggml's order of additions; importance is
  // ignored, as there.
  static void encode(const BlockSource& source, Block& block) {
    float sum = 0;
    for (int i = 0; i < kValues; ++i) {
      sum += std::fabs(source.x[i]);
      block.bits[i / 8] |= static_cast<uint8_t>((source.x[i] >= 0 ? 1 : 0) << i % 8);
    }
    block.d = float_to_half(sum / kValues);
  }
};

}  // namespace

const WeightFormat& format_q1_0() {
  static const BlockFormat<Q1_0> format;
  return format;
}

}  // namespace arion
