// Scales are searched for four groups side by side, then rounded; last, the codes are chosen anew
// for the scales that are left after rounding.
#include "quant/k_blocks.h"

#include <algorithm>
#include <cmath>

#include "base/half.h"

namespace arion {

namespace {

using Lanes = std::array<Quad, kMaxSearchValues>;

// Four groups of a block in lanes: values and the weights of their errors.
struct LaneGroups {
  int size;
  Lanes x, weights;

  LaneGroups(const BlockSource& source, int first, int group_size) : size(group_size) {
    gather_groups(source.x + first * size, size, kQuadLanes, x.data());
  }
  std::span<const Quad> values() const { return {x.data(), static_cast<size_t>(size)}; }
  std::span<const Quad> value_weights() const {
    return {weights.data(), static_cast<size_t>(size)};
  }

  void weigh(const BlockSource& source, int first, float spread) {
    weigh_by_importance(values(), source.importance + first * size, kQuadLanes, Quad{} + spread,
                        weights.data());
  }
  void add_totals(int first, float* totals) const {
    Quad sum{};
    for (int i = 0; i < size; ++i) sum += weights[i];
    for (int g = 0; g < kQuadLanes; ++g) totals[first + g] = sum[g];
  }
};

float spread_of(const BlockSource& source, float factor) {
  return factor * mean_square({source.x, kBlock256});
}

// Without importance: by magnitude; in groups of 32 also by that of the whole group.
void weigh_by_magnitude(LaneGroups& groups) {
  Quad base{};
  if (groups.size == 32) {
    for (int i = 0; i < groups.size; ++i) base += groups.x[i] * groups.x[i];
    base = square_root(base / static_cast<float>(groups.size));
  }
  for (int i = 0; i < groups.size; ++i) groups.weights[i] = base + magnitude(groups.x[i]);
}

// The plain rule: the largest scale gets the largest code.
uint16_t scale_by_max(std::span<const float> values, int max_code, uint8_t* codes) {
  const auto top = static_cast<float>(max_code);
  const float max = std::max(0.0f, *std::max_element(values.begin(), values.end()));
  const float inverse = max > 0 ? top / max : 0;
  for (size_t i = 0; i < values.size(); ++i) {
    codes[i] = static_cast<uint8_t>(std::clamp(nearest(inverse * values[i]), 0, max_code));
  }
  return float_to_half(max / top);
}

// Rounds x + min in steps of `scale` to low .. high, and adds -low. Lanes without a scale keep
// what the search chose.
void round_again(const LaneGroups& groups, Quad scale, Quad min, float low, float high,
                 uint8_t* out) {
  if (!any(scale != 0)) return;
  std::array<uint8_t, kQuadLanes * kMaxSearchValues> found;
  Lanes codes;
  for (int i = 0; i < groups.size; ++i) {
    codes[i] = clamp(nearest((groups.x[i] + min) / scale), low, high) - low;
  }
  scatter_codes(codes.data(), groups.size, found.data());
  for (int g = 0; g < kQuadLanes; ++g) {
    if (scale[g] != 0) {
      std::copy_n(&found[g * groups.size], groups.size, out + g * groups.size);
    }
  }
}

using GroupScales = std::array<float, 16>;

void round_again(const BlockSource& source, KSymmetricBlock& block, int levels) {
  const float d = half_to_float(block.d);
  const auto top = static_cast<float>(levels);
  for (int first = 0; first < 16; first += kQuadLanes) {
    Quad scale;
    for (int g = 0; g < kQuadLanes; ++g) scale[g] = d * static_cast<float>(block.s[first + g]);
    round_again({source, first, 16}, scale, Quad{}, -top, top - 1, &block.codes[first * 16]);
  }
}

// s and d such that the scale of largest magnitude gets -max_scale.
void scale_by_extreme(const GroupScales& scales, int max_scale, KSymmetricBlock& block) {
  float largest = 0;
  for (const float scale : scales) {
    if (std::fabs(scale) > std::fabs(largest)) largest = scale;
  }
  if (std::fabs(largest) < kZeroGroup) return;
  const float inverse = static_cast<float>(-max_scale) / largest;
  block.d = float_to_half(1 / inverse);
  for (int g = 0; g < 16; ++g) {
    const int s = std::clamp(nearest(inverse * scales[g]), -max_scale, max_scale - 1);
    block.s[g] = static_cast<int8_t>(s);
  }
}

}  // namespace

KAffineBlock encode_k_affine(const BlockSource& source, const KAffineRule& rule) {
  const int count = kBlock256 / rule.group_size;
  const bool is_weighted = source.importance != nullptr;
  const float spread = is_weighted ? spread_of(source, rule.spread) : 0;
  const AffineSearch search = is_weighted ? importance_search(rule.search.max_code) : rule.search;
  KAffineBlock block;
  GroupScales scales{}, mins{}, totals{};
  for (int first = 0; first < count; first += kQuadLanes) {
    LaneGroups groups(source, first, rule.group_size);
    if (is_weighted) {
      groups.weigh(source, first, spread);
      groups.add_totals(first, totals.data());
    } else {
      weigh_by_magnitude(groups);
    }
    Lanes codes;
    const QuadAffine fit =
        fit_affine(groups.values(), groups.value_weights(), search, codes.data());
    scatter_codes(codes.data(), rule.group_size, &block.codes[first * rule.group_size]);
    for (int g = 0; g < kQuadLanes; ++g) {
      scales[first + g] = fit.scale[g];
      mins[first + g] = -fit.min[g];
    }
  }
  const auto used = [&](const GroupScales& all) {
    return std::span(all).first(static_cast<size_t>(count));
  };
  if (is_weighted) {
    block.d =
        float_to_half(fit_positive(used(scales), used(totals), rule.max_scale, block.s.data()));
    block.dmin =
        float_to_half(fit_positive(used(mins), used(totals), rule.max_scale, block.m.data()));
  } else {
    block.d = scale_by_max(used(scales), rule.max_scale, block.s.data());
    block.dmin = scale_by_max(used(mins), rule.max_scale, block.m.data());
  }
  const float d = half_to_float(block.d), dmin = half_to_float(block.dmin);
  for (int first = 0; first < count; first += kQuadLanes) {
    Quad scale, min;
    for (int g = 0; g < kQuadLanes; ++g) {
      scale[g] = d * static_cast<float>(block.s[first + g]);
      min[g] = dmin * static_cast<float>(block.m[first + g]);
    }
    round_again({source, first, rule.group_size}, scale, min, 0,
                static_cast<float>(search.max_code), &block.codes[first * rule.group_size]);
  }
  return block;
}

KSymmetricBlock encode_q3_k(const BlockSource& source) {
  constexpr int kLevels = 4, kMaxScale = 32;
  const bool is_weighted = source.importance != nullptr;
  const float spread = is_weighted ? spread_of(source, 2) : 0;
  KSymmetricBlock block;
  GroupScales scales, totals;
  for (int first = 0; first < 16; first += kQuadLanes) {
    LaneGroups groups(source, first, 16);
    Lanes codes;
    Quad fit;
    if (is_weighted) {
      groups.weigh(source, first, spread);
      groups.add_totals(first, totals.data());
      fit = fit_symmetric(groups.values(), groups.value_weights(), kLevels, codes.data());
    } else {
      fit = descend_symmetric(groups.values(), kLevels, codes.data());
    }
    scatter_codes(codes.data(), 16, &block.codes[first * 16]);
    for (int g = 0; g < kQuadLanes; ++g) scales[first + g] = fit[g];
  }
  block.s.fill(-kMaxScale);
  if (is_weighted) {
    Lanes x, weights, codes;  // the scales themselves are fitted, in all lanes alike
    gather_groups(scales.data(), 16, 1, x.data());
    gather_groups(totals.data(), 16, 1, weights.data());
    const Quad d = fit_symmetric(std::span(x).first(16), std::span(weights).first(16), kMaxScale,
                                 codes.data());
    block.d = float_to_half(d[0]);
    for (int g = 0; g < 16; ++g) block.s[g] = static_cast<int8_t>(codes[g][0] - kMaxScale);
  } else {
    scale_by_extreme(scales, kMaxScale, block);
  }
  round_again(source, block, kLevels);
  return block;
}

KSymmetricBlock encode_q6_k(const BlockSource& source) {
  constexpr int kLevels = 32, kMaxScale = 128;
  KSymmetricBlock block;
  GroupScales scales;
  for (int first = 0; first < 16; first += kQuadLanes) {
    LaneGroups groups(source, first, 16);
    if (source.importance != nullptr) {
      gather_groups(source.importance + first * 16, 16, kQuadLanes, groups.weights.data());
    } else {
      for (int i = 0; i < 16; ++i) groups.weights[i] = groups.x[i] * groups.x[i];
    }
    Lanes codes;
    const Quad fit = fit_symmetric(groups.values(), groups.value_weights(), kLevels, codes.data());
    scatter_codes(codes.data(), 16, &block.codes[first * 16]);
    for (int g = 0; g < kQuadLanes; ++g) scales[first + g] = fit[g];
  }
  scale_by_extreme(scales, kMaxScale, block);
  if (block.s == decltype(block.s){}) block.codes.fill(0);
  round_again(source, block, kLevels);
  return block;
}

void split_k_scales(const uint8_t (&bytes)[12], BlockParts& parts) {
  for (int i = 0; i < 4; ++i) {
    parts.s[i] = bytes[i] & 63;
    parts.sm[i] = bytes[4 + i] & 63;
    parts.s[4 + i] = static_cast<uint8_t>((bytes[8 + i] & 15) | bytes[i] >> 6 << 4);
    parts.sm[4 + i] = static_cast<uint8_t>(bytes[8 + i] >> 4 | bytes[4 + i] >> 6 << 4);
  }
}

void join_k_scales(const KAffineBlock& block, uint8_t (&bytes)[12]) {
  for (int i = 0; i < 4; ++i) {
    bytes[i] = static_cast<uint8_t>(block.s[i] | block.s[4 + i] >> 4 << 6);
    bytes[4 + i] = static_cast<uint8_t>(block.m[i] | block.m[4 + i] >> 4 << 6);
    bytes[8 + i] = static_cast<uint8_t>((block.s[4 + i] & 15) | (block.m[4 + i] & 15) << 4);
  }
}

}  // namespace arion
