// Q8_0: 32 signed bytes and a scale; value = d * q.
#include "base/half.h"
#include "quant/block_format.h"
#include "quant/quad.h"

namespace arion {
namespace {

struct Q8_0 {
  static constexpr std::string_view kName = "Q8_0";
  static constexpr uint32_t kType = 8;
  static constexpr int kValues = 32;
  static constexpr PanelSpec kPanel{Codec::c8, ScaleMode::a, 128};

  struct Block {
    uint16_t d;
    int8_t qs[32];
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (int i = 0; i < 32; ++i) parts.codes[i] = static_cast<uint8_t>(block.qs[i] + 128);
  }

  // Byte for byte as ggml's reference, which rounds half away from zero and ignores importance.
  static void encode(const BlockSource& source, Block& block) {
    const float d = largest_magnitude(source.x, kValues) / 127;
    const float inverse = d == 0 ? 0 : 1 / d;
    block.d = float_to_half(d);
    for (int i = 0; i < kValues; i += kQuadLanes) {
      const QuadMask steps = round_half_away(clamp(load_quad(source.x + i) * inverse, -127, 127));
      for (int k = 0; k < kQuadLanes; ++k) block.qs[i + k] = static_cast<int8_t>(steps[k]);
    }
  }
};

}  // namespace

const WeightFormat& format_q8_0() {
  static const BlockFormat<Q8_0> format;
  return format;
}

}  // namespace arion
