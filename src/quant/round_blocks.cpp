// Without importance the arithmetic is that of ggml's reference, rounding for rounding, so that
// files come out byte for byte the same. With importance the scales are searched.
#include "quant/round_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/half.h"
#include "quant/code_search.h"

namespace arion {

namespace {

constexpr int kValues = 32;
constexpr Sweep kAffineSweep{-0.9f, 0.05f, 36};

// Large weights matter more than their importance alone says: an error in them is seen by all.
std::array<float, kValues> search_weights(const BlockSource& source) {
  std::array<float, kValues> weights;
  for (int i = 0; i < kValues; ++i) {
    const float x = source.x[i];
    weights[i] = source.importance[i] * std::sqrt(source.row_mean_square + x * x);
  }
  return weights;
}

uint8_t clamped(float x, int max_code) {
  return static_cast<uint8_t>(std::clamp(truncated(x), 0, max_code));
}

}  // namespace

void encode_symmetric(const BlockSource& source, int zero, uint16_t& d, uint8_t (&codes)[32]) {
  const std::span<const float> x(source.x, kValues);
  const int max_code = 2 * zero - 1;
  if (source.importance != nullptr) {
    d = float_to_half(fit_symmetric(x, search_weights(source), zero));
    round_to_grid(x, {half_to_float(d), 0, zero, max_code}, codes);
    return;
  }
  float extreme = x[0];
  for (const float v : x) {
    if (std::fabs(v) > std::fabs(extreme)) extreme = v;
  }
  const float scale = extreme / static_cast<float>(-zero);
  const float inverse = scale == 0 ? 0 : 1 / scale;
  const float middle = static_cast<float>(zero) + 0.5f;
  for (int i = 0; i < kValues; ++i) codes[i] = clamped(x[i] * inverse + middle, max_code);
  d = float_to_half(scale);
}

void encode_affine(const BlockSource& source, int max_code, uint16_t& d, uint16_t& m,
                   uint8_t (&codes)[32]) {
  const std::span<const float> x(source.x, kValues);
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  if (source.importance != nullptr) {
    // The search wants a minimum that is not positive; the format does not.
    const float base = std::max(*low, 0.0f);
    std::array<float, kValues> above;
    for (int i = 0; i < kValues; ++i) above[i] = x[i] - base;
    const Affine fit = fit_affine(above, search_weights(source), max_code, kAffineSweep);
    d = float_to_half(fit.scale);
    m = float_to_half(fit.min + base);
    round_to_grid(x, {half_to_float(d), half_to_float(m), 0, max_code}, codes);
    return;
  }
  const float min = *low;
  const float scale = (*high - min) / static_cast<float>(max_code);
  const float inverse = scale == 0 ? 0 : 1 / scale;
  for (int i = 0; i < kValues; ++i) codes[i] = clamped((x[i] - min) * inverse + 0.5f, max_code);
  d = float_to_half(scale);
  m = float_to_half(min);
}

}  // namespace arion
