// The arithmetic is that of ggml, rounding for rounding, so that files come out byte for byte the
// same: fixed rules without importance, searched scales with it.
#include "quant/round_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/half.h"
#include "quant/code_search.h"

namespace arion {

namespace {

constexpr int kValues = kRoundedValues;

// A run of blocks in lanes; lanes without a block repeat the last one.
struct LaneBlocks {
  std::array<Quad, kValues> x, weights;

  LaneBlocks(const BlockSource& source, int count) {
    gather_groups(source.x, kValues, count, x.data());
    weigh_by_importance(x, source.importance, count, Quad{} + source.row_mean_square,
                        weights.data());
  }
};

// A block as eight vectors of four neighbours.
constexpr int kParts = kValues / kQuadLanes;
using Parts = std::array<Quad, kParts>;

Parts load_parts(const float* x) {
  Parts parts;
  std::memcpy(parts.data(), x, sizeof parts);
  return parts;
}

struct Range {
  float low, high;
};

Range range_of(const Parts& parts) {
  Quad low = parts[0], high = parts[0];
  for (const Quad v : parts) {
    low = select(v < low, v, low);
    high = select(v > high, v, high);
  }
  return {std::min({low[0], low[1], low[2], low[3]}),
          std::max({high[0], high[1], high[2], high[3]})};
}

// Whole parts of (x - min) * inverse + middle, within 0 .. max_code.
void round_parts(const Parts& parts, float min, float inverse, float middle, int max_code,
                 uint8_t* codes) {
  std::array<QuadMask, kParts> whole;
  for (int i = 0; i < kParts; ++i) {
    const Quad step = clamp((parts[i] - min) * inverse + middle, 0, static_cast<float>(max_code));
    whole[i] = __builtin_convertvector(step, QuadMask);
  }
  store_bytes(&whole[0], codes);
  store_bytes(&whole[kParts / 2], codes + kValues / 2);
}

void round_symmetric(const float* x, int zero, uint16_t& d, uint8_t* codes) {
  const Parts parts = load_parts(x);
  const auto [low, high] = range_of(parts);
  float extreme = high > -low ? high : low;
  if (high == -low) {  // the first of both
    extreme = *std::find_if(x, x + kValues,
                            [largest = high](float v) { return std::fabs(v) == largest; });
  }
  const float scale = extreme / static_cast<float>(-zero);
  const float inverse = scale == 0 ? 0 : 1 / scale;
  round_parts(parts, 0, inverse, static_cast<float>(zero) + 0.5f, 2 * zero - 1, codes);
  d = float_to_half(scale);
}

void round_affine(const float* x, int max_code, uint16_t& d, uint16_t& m, uint8_t* codes) {
  const Parts parts = load_parts(x);
  const auto [low, high] = range_of(parts);
  const float scale = (high - low) / static_cast<float>(max_code);
  const float inverse = scale == 0 ? 0 : 1 / scale;
  round_parts(parts, low, inverse, 0.5f, max_code, codes);
  d = float_to_half(scale);
  m = float_to_half(low);
}

}  // namespace

RoundedBlocks encode_symmetric(const BlockSource& source, size_t count, int zero) {
  RoundedBlocks out;
  if (source.importance == nullptr) {
    for (size_t b = 0; b < count; ++b) {
      round_symmetric(source.x + b * kValues, zero, out.d[b], &out.codes[b * kValues]);
    }
    return out;
  }
  const LaneBlocks blocks(source, static_cast<int>(count));
  std::array<Quad, kValues> codes;
  const Quad scale = fit_symmetric(blocks.x, blocks.weights, zero, codes.data());
  scatter_codes(codes.data(), kValues, out.codes.data());
  for (size_t b = 0; b < count; ++b) out.d[b] = float_to_half(scale[b]);
  return out;
}

RoundedBlocks encode_affine(const BlockSource& source, size_t count, int max_code) {
  RoundedBlocks out;
  if (source.importance == nullptr) {
    for (size_t b = 0; b < count; ++b) {
      round_affine(source.x + b * kValues, max_code, out.d[b], out.m[b], &out.codes[b * kValues]);
    }
    return out;
  }
  const LaneBlocks blocks(source, static_cast<int>(count));
  std::array<Quad, kValues> codes;
  const QuadAffine fit =
      fit_affine(blocks.x, blocks.weights, importance_search(max_code), codes.data());
  scatter_codes(codes.data(), kValues, out.codes.data());
  for (size_t b = 0; b < count; ++b) {
    out.d[b] = float_to_half(fit.scale[b]);
    out.m[b] = float_to_half(fit.min[b]);
  }
  return out;
}

}  // namespace arion
