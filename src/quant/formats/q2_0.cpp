// Q2_0: 64 codes of 2 bits and a scale; value = d * (code - 1).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "base/half.h"
#include "quant/block_format.h"
#include "quant/quad.h"

namespace arion {
namespace {

struct Q2_0 {
  static constexpr std::string_view kName = "Q2_0";
  static constexpr uint32_t kType = 42;
  static constexpr int kValues = 64;
  static constexpr PanelSpec kPanel{Codec::c2, ScaleMode::a64, 1};

  struct Block {
    uint16_t d;
    uint8_t qs[16];  // four codes each, lowest first
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    for (int i = 0; i < kValues; ++i) parts.codes[i] = block.qs[i / 4] >> 2 * (i % 4) & 3;
  }

  // The largest magnitude gets code 3, which reaches furthest; then least squares for these codes.
  static void encode(const BlockSource& source, Block& block) {
    std::array<Quad, kValues / kQuadLanes> x, values;
    std::memcpy(x.data(), source.x, sizeof x);
    const auto round = [&](float scale) {
      const float inverse = scale == 0 ? 0 : 1 / scale;
      for (size_t i = 0; i < x.size(); ++i) values[i] = clamp(nearest(x[i] * inverse), -1, 2);
    };
    const std::span<const float> all(source.x, kValues);
    const auto is_smaller = [](float a, float b) { return std::fabs(a) < std::fabs(b); };
    round(*std::ranges::max_element(all, is_smaller) / 2);
    Quad along{}, size{};
    for (size_t i = 0; i < x.size(); ++i) {
      Quad weighted = values[i];
      if (source.importance != nullptr) weighted *= load_quad(source.importance + 4 * i);
      along += weighted * x[i];
      size += weighted * values[i];
    }
    const float total = sum_of(size);
    block.d = float_to_half(total > 0 ? sum_of(along) / total : 0);
    round(half_to_float(block.d));
    for (int i = 0; i < kValues / kQuadLanes; ++i) {
      const QuadMask codes = __builtin_convertvector(values[i], QuadMask) + 1;
      block.qs[i] = static_cast<uint8_t>(codes[0] | codes[1] << 2 | codes[2] << 4 | codes[3] << 6);
    }
  }
};

}  // namespace

const WeightFormat& format_q2_0() {
  static const BlockFormat<Q2_0> format;
  return format;
}

}  // namespace arion
