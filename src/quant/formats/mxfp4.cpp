// MXFP4: 32 numbers E2M1 and a power of two; value = 2^(e - 128) * code value.
// Source: OCP Microscaling Formats specification 1.0.
#include <algorithm>
#include <cmath>

#include "quant/bits.h"
#include "quant/block_format.h"
#include "quant/fp4_search.h"
#include "quant/small_floats.h"

namespace arion {
namespace {

struct MXFP4 {
  static constexpr std::string_view kName = "MXFP4";
  static constexpr uint32_t kType = 39;
  static constexpr int kValues = 32;
  static constexpr PanelSpec kPanel{Codec::t4, ScaleMode::e32, kTableZero, CodeTable::fp4};

  struct Block {
    uint8_t e;
    uint8_t qs[16];
  };

  static void split(const Block& block, BlockParts& parts) {
    parts.s[0] = block.e;
    split_nibbles(block.qs, parts.codes.data());
  }

  // The exponent of the largest value is that of E2M1's largest, 4. Importance cannot matter.
  static void encode(const BlockSource& source, Block& block) {
    const float largest = largest_magnitude(source.x, kValues);
    block.e = static_cast<uint8_t>(largest > 0 ? std::max(0, std::ilogb(largest) - 2 + 127) : 0);
    uint8_t codes[kValues];
    round_to_fp4({source.x, kValues}, half_e8m0(block.e), codes);
    join_nibbles(codes, block.qs);
  }
};

}  // namespace

const WeightFormat& format_mxfp4() {
  static const BlockFormat<MXFP4> format;
  return format;
}

}  // namespace arion
