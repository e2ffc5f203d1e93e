// Scale layout and search of Q4_K and Q5_K.
#include "quant/k_scales.h"

#include <algorithm>
#include <cmath>

#include "base/half.h"

namespace arion {

namespace {

constexpr int kGroups = 8;
constexpr int kGroup = 32;
constexpr int kMaxScale = 63;
constexpr Sweep kImportanceSweep{-0.9f, 0.05f, 36};

using Group = std::span<const float, kGroup>;

Group group_of(const float* values, int g) {
  return Group(values + g * kGroup, kGroup);
}

std::array<float, kGroup> group_weights(const BlockSource& source, int g) {
  std::array<float, kGroup> weights;
  const Group x = group_of(source.x, g);
  if (source.importance == nullptr) {
    const float spread = std::sqrt(mean_square(x));
    for (int i = 0; i < kGroup; ++i) weights[i] = spread + std::fabs(x[i]);
  } else {
    const float spread = 2 * mean_square({source.x, kGroups * kGroup});
    const Group importance = group_of(source.importance, g);
    for (int i = 0; i < kGroup; ++i) weights[i] = importance[i] * std::sqrt(spread + x[i] * x[i]);
  }
  return weights;
}

// The plain rule: the largest value gets the largest code.
float scale_by_max(std::span<const float> values, uint8_t* codes) {
  const float max = std::max(0.0f, *std::max_element(values.begin(), values.end()));
  const float inverse = max > 0 ? kMaxScale / max : 0;
  for (size_t i = 0; i < values.size(); ++i) {
    codes[i] = static_cast<uint8_t>(std::clamp(nearest(inverse * values[i]), 0, kMaxScale));
  }
  return max / kMaxScale;
}

}  // namespace

void split_k_scales(const uint8_t (&bytes)[12], BlockParts& parts) {
  for (int i = 0; i < 4; ++i) {
    parts.s[i] = bytes[i] & 63;
    parts.sm[i] = bytes[4 + i] & 63;
    parts.s[4 + i] = static_cast<uint8_t>((bytes[8 + i] & 15) | bytes[i] >> 6 << 4);
    parts.sm[4 + i] = static_cast<uint8_t>(bytes[8 + i] >> 4 | bytes[4 + i] >> 6 << 4);
  }
}

void join_k_scales(const KScales& scales, uint8_t (&bytes)[12]) {
  for (int i = 0; i < 4; ++i) {
    bytes[i] = static_cast<uint8_t>(scales.s[i] | scales.s[4 + i] >> 4 << 6);
    bytes[4 + i] = static_cast<uint8_t>(scales.m[i] | scales.m[4 + i] >> 4 << 6);
    bytes[8 + i] = static_cast<uint8_t>((scales.s[4 + i] & 15) | (scales.m[4 + i] & 15) << 4);
  }
}

KScales encode_k_block(const BlockSource& source, int max_code, const Sweep& sweep,
                       uint8_t (&codes)[256]) {
  std::array<float, kGroups> group_scales, group_mins, totals{};
  for (int g = 0; g < kGroups; ++g) {
    const auto weights = group_weights(source, g);
    const Affine fit = fit_affine(group_of(source.x, g), weights, max_code,
                                  source.importance == nullptr ? sweep : kImportanceSweep);
    group_scales[g] = fit.scale;
    group_mins[g] = -fit.min;
    for (const float w : weights) totals[g] += w;
  }
  KScales k;
  if (source.importance == nullptr) {
    k.d = float_to_half(scale_by_max(group_scales, k.s.data()));
    k.dmin = float_to_half(scale_by_max(group_mins, k.m.data()));
  } else {
    k.d = float_to_half(fit_positive(group_scales, totals, kMaxScale, k.s.data()));
    k.dmin = float_to_half(fit_positive(group_mins, totals, kMaxScale, k.m.data()));
  }
  // The scales have been rounded twice by now, so the codes are chosen anew for what remains.
  for (int g = 0; g < kGroups; ++g) {
    const float scale = half_to_float(k.d) * k.s[g];
    const float min = -(half_to_float(k.dmin) * k.m[g]);
    round_to_grid(group_of(source.x, g), {scale, min, 0, max_code}, codes + g * kGroup);
  }
  return k;
}

}  // namespace arion
