// Scale searches. Plain loops over at most 32 values; the order of additions is part of the result.
#include "quant/code_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace arion {

namespace {

constexpr float kTiny = 1e-15f;  // below this everything rounds to zero

// Sums of a weighted least squares fit of x by codes l.
struct Sums {
  float w = 0, x = 0, l = 0, xl = 0, l2 = 0;

  void add(float weight, float value, float code) {
    w += weight;
    x += weight * value;
    l += weight * code;
    l2 += weight * code * code;
    xl += weight * value * code;
  }
};

using Codes = std::array<float, kMaxSearchValues>;

Sums round_affine(std::span<const float> x, std::span<const float> weights, float inverse,
                  float min, int max_code, Codes& codes) {
  Sums sums;
  for (size_t i = 0; i < x.size(); ++i) {
    codes[i] = static_cast<float>(std::clamp(nearest(inverse * (x[i] - min)), 0, max_code));
    sums.add(weights[i], x[i], codes[i]);
  }
  return sums;
}

float affine_error(std::span<const float> x, std::span<const float> weights, const Affine& fit,
                   const Codes& codes) {
  float error = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const float difference = fit.scale * codes[i] + fit.min - x[i];
    error += weights[i] * difference * difference;
  }
  return error;
}

}  // namespace

int nearest(float x) {
  // Adding 1.5 * 2^23 leaves the integer in the low mantissa bits.
  const float shifted = std::clamp(x, -4e6f, 4e6f) + 12582912.0f;
  return static_cast<int>(std::bit_cast<uint32_t>(shifted) & 0x7fffffu) - 0x400000;
}

int truncated(float x) {
  return std::fabs(x) < 0x1p31f ? static_cast<int>(x) : 0;
}

void round_to_grid(std::span<const float> x, const Grid& grid, uint8_t* codes) {
  for (size_t i = 0; i < x.size(); ++i) {
    const int steps = grid.scale == 0 ? 0 : nearest((x[i] - grid.min) / grid.scale);
    codes[i] = static_cast<uint8_t>(std::clamp(steps + grid.zero, 0, grid.max_code));
  }
}

uint8_t nearest_code(const CodeValues& table, float scale, float x) {
  size_t best = 0;
  float least = std::fabs(scale * table.value[0] - x);
  for (size_t code = 1; code < table.value.size(); ++code) {
    const float error = std::fabs(scale * table.value[code] - x);
    if (error < least) {
      least = error;
      best = code;
    }
  }
  return static_cast<uint8_t>(best);
}

float fit_table(std::span<const float> x, const float* importance, const CodeValues& table) {
  const auto is_smaller = [](float a, float b) { return std::fabs(a) < std::fabs(b); };
  const float extreme = *std::max_element(x.begin(), x.end(), is_smaller);
  const int8_t top = *std::max_element(table.value.begin(), table.value.end(), is_smaller);
  const float scale = extreme / top;
  Sums sums;
  for (size_t i = 0; i < x.size(); ++i) {
    const float value = table.value[nearest_code(table, scale, x[i])];
    sums.add(importance != nullptr ? importance[i] : 1, x[i], value);
  }
  return sums.l2 > 0 ? sums.xl / sums.l2 : 0;
}

float fit_symmetric(std::span<const float> x, std::span<const float> weights, int levels) {
  float extreme = 0;  // gets code -levels, the one end of the range that reaches furthest
  for (const float v : x) {
    if (std::fabs(v) > std::fabs(extreme)) extreme = v;
  }
  if (std::fabs(extreme) < kTiny) return 0;
  float scale = 0;
  float best = 0;
  for (int i = 0; i <= 18; ++i) {
    const int step = i == 0 ? 0 : i <= 9 ? i - 10 : i - 9;  // 0, -9 .. -1, 1 .. 9
    const float inverse = -(static_cast<float>(levels) + 0.1f * static_cast<float>(step)) / extreme;
    Sums sums;
    for (size_t k = 0; k < x.size(); ++k) {
      const int code = std::clamp(nearest(inverse * x[k]), -levels, levels - 1);
      sums.add(weights[k], x[k], static_cast<float>(code));
    }
    if (sums.l2 > 0 && (i == 0 || sums.xl * sums.xl > best * sums.l2)) {
      scale = sums.xl / sums.l2;
      best = scale * sums.xl;
    }
  }
  return scale;
}

Affine fit_affine(std::span<const float> x, std::span<const float> weights, int max_code,
                  const Sweep& sweep) {
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const float range_min = std::min(*low, 0.0f);
  const float range = *high - range_min;
  if (!(range > 0)) return {0, range_min};

  Codes codes{};
  const float top = static_cast<float>(max_code);
  Affine best{1 / (top / range), range_min};
  round_affine(x, weights, top / range, range_min, max_code, codes);
  float best_error = affine_error(x, weights, best, codes);
  for (int i = 0; i <= sweep.count; ++i) {
    // Each candidate starts from the best minimum so far.
    const float inverse =
        (sweep.start + sweep.step * static_cast<float>(i) + top) / (*high - best.min);
    const Sums s = round_affine(x, weights, inverse, best.min, max_code, codes);
    const float determinant = s.w * s.l2 - s.l * s.l;
    if (!(determinant > 0)) continue;
    Affine fit{(s.w * s.xl - s.x * s.l) / determinant, (s.l2 * s.x - s.l * s.xl) / determinant};
    if (fit.min > 0) fit = {s.xl / s.l2, 0};
    const float error = affine_error(x, weights, fit, codes);
    if (error < best_error) {
      best_error = error;
      best = fit;
    }
  }
  return best;
}

float fit_positive(std::span<const float> x, std::span<const float> weights, int max_code,
                   uint8_t* codes) {
  std::fill_n(codes, x.size(), uint8_t{0});
  const float max = *std::max_element(x.begin(), x.end());
  if (!(max > kTiny)) return 0;
  const auto code_of = [&](float steps) { return std::clamp(nearest(steps), 0, max_code); };
  const float top = static_cast<float>(max_code);
  float inverse = 0;
  float best_error = 0;
  for (int i = 0; i <= 8; ++i) {
    const int step = i == 0 ? 0 : i <= 4 ? i - 5 : i - 4;  // 0, -4 .. -1, 1 .. 4
    const float candidate = (top + 0.1f * static_cast<float>(step)) / max;
    float error = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      const float difference = x[k] - static_cast<float>(code_of(candidate * x[k])) / candidate;
      error += weights[k] * difference * difference;
    }
    if (i == 0 || error < best_error) {
      best_error = error;
      inverse = candidate;
    }
  }
  Sums sums;
  for (size_t k = 0; k < x.size(); ++k) {
    codes[k] = static_cast<uint8_t>(code_of(inverse * x[k]));
    sums.add(weights[k], x[k], codes[k]);
  }
  bool changed = true;
  for (int sweep = 0; sweep < 5 && changed; ++sweep) {
    changed = false;
    for (size_t k = 0; k < x.size(); ++k) {
      const float w = weights[k];
      Sums rest{.xl = sums.xl - w * x[k] * codes[k], .l2 = sums.l2 - w * codes[k] * codes[k]};
      if (!(rest.xl > 0 && rest.l2 > 0)) continue;
      const int code = code_of(x[k] * rest.l2 / rest.xl);
      if (code == codes[k]) continue;
      rest.add(w, x[k], static_cast<float>(code));
      if (rest.xl * rest.xl * sums.l2 <= sums.xl * sums.xl * rest.l2) continue;
      codes[k] = static_cast<uint8_t>(code);
      sums = rest;
      changed = true;
    }
  }
  return sums.l2 > 0 ? sums.xl / sums.l2 : 0;
}

}  // namespace arion
