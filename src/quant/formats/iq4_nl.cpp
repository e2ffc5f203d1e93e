// IQ4_NL: 32 codes of 4 bits on a companding curve and a scale; value = d * code value.
#include <array>

#include "base/half.h"
#include "quant/bits.h"
#include "quant/block_format.h"
#include "quant/iq4_search.h"

namespace arion {
namespace {

struct IQ4_NL {
  static constexpr std::string_view kName = "IQ4_NL";
  static constexpr uint32_t kType = 20;
  static constexpr int kValues = 32;
  static constexpr PanelSpec kPanel{Codec::t4, ScaleMode::a, kTableZero, CodeTable::iq4};

  struct Block {
    uint16_t d;
    uint8_t qs[16];
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.d = block.d;
    split_nibbles(block.qs, parts.codes.data());
  }

  static void encode(const BlockSource& source, std::span<Block> run) {
    const int count = static_cast<int>(run.size());
    std::array<Quad, kValues> x, weights, codes;
    gather_groups(source.x, kValues, count, x.data());
    Quad spread{};
    for (const Quad v : x) spread += v * v;
    spread *= 2.0f / kValues;
    weigh_iq4(x, source.importance, count, spread, weights.data());
    const Quad scale = fit_iq4(x, weights);
    round_to_iq4(x, scale, codes.data());
    std::array<uint8_t, kBlockRun * kValues> bytes;
    scatter_codes(codes.data(), kValues, bytes.data());
    for (int i = 0; i < count; ++i) {
      run[i].d = float_to_half(scale[i]);
      join_nibbles(&bytes[i * kValues], run[i].qs);
    }
  }
};

}  // namespace

const WeightFormat& format_iq4_nl() {
  static const BlockFormat<IQ4_NL> format;
  return format;
}

}  // namespace arion
