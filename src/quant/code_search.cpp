// Scale searches. The order of additions and multiplications is part of the result.
#include "quant/code_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace arion {

namespace {

using Codes = std::array<Quad, kMaxSearchValues>;

void keep(QuadMask which, std::span<const Quad> x, const Codes& from, Quad* to) {
  for (size_t i = 0; i < x.size(); ++i) to[i] = select(which, from[i], to[i]);
}

// Sums of a weighted least squares fit of x by codes l.
template <typename T>
struct Fit {
  T xl{}, l2{};

  void add(T weight, T value, T code) {
    xl += weight * value * code;
    l2 += weight * code * code;
  }
  // What remains without one value.
  Fit without(T weight, T value, T code) const {
    return {xl - weight * value * code, l2 - weight * code * code};
  }
};

Quad scale_of(const Fit<Quad>& fit) {
  return select(fit.l2 > 0, fit.xl / fit.l2, Quad{});
}

Quad affine_error(std::span<const Quad> x, std::span<const Quad> weights, const QuadAffine& fit,
                  ErrorNorm norm, const Codes& codes) {
  Quad error{};
  for (size_t i = 0; i < x.size(); ++i) {
    const Quad difference = fit.scale * codes[i] + fit.min - x[i];
    const Quad size = norm == ErrorNorm::absolute ? magnitude(difference) : difference * difference;
    error += weights[i] * size;
  }
  return error;
}

}  // namespace

int nearest(float x) {
  // Adding 1.5 * 2^23 leaves the integer in the low mantissa bits.
  const float shifted = std::clamp(x, -4e6f, 4e6f) + 12582912.0f;
  return static_cast<int>(std::bit_cast<uint32_t>(shifted) & 0x7fffffu) - 0x400000;
}

Quad extreme(std::span<const Quad> x) {
  Quad largest{};
  for (const Quad v : x) largest = select(magnitude(v) > magnitude(largest), v, largest);
  return largest;
}

Quad fit_symmetric(std::span<const Quad> x, std::span<const Quad> weights, int levels,
                   Quad* codes) {
  const Quad far = extreme(x);  // gets code -levels, the one end of the range that reaches furthest
  const auto top = static_cast<float>(levels);
  Codes candidate;
  const auto round = [&](Quad inverse) {
    Fit<Quad> sums;
    for (size_t i = 0; i < x.size(); ++i) {
      const Quad code = clamp(nearest(inverse * x[i]), -top, top - 1);
      sums.add(weights[i], x[i], code);
      candidate[i] = code + top;
    }
    return sums;
  };
  Fit<Quad> sums = round(-top / far);
  Quad scale = scale_of(sums);
  Quad best = scale * sums.xl;
  std::copy_n(candidate.begin(), x.size(), codes);
  for (int step = -9; step <= 9; ++step) {
    if (step == 0) continue;
    sums = round(-(top + 0.1f * static_cast<float>(step)) / far);
    const QuadMask better = (sums.l2 > 0) & (sums.xl * sums.xl > best * sums.l2);
    if (!any(better)) continue;
    keep(better, x, candidate, codes);
    scale = select(better, sums.xl / sums.l2, scale);
    best = select(better, scale * sums.xl, best);
  }
  const QuadMask is_zero = magnitude(far) < kZeroGroup;
  for (size_t i = 0; i < x.size(); ++i) codes[i] = select(is_zero, Quad{}, codes[i]);
  return select(is_zero, Quad{}, scale);
}

Quad descend_symmetric(std::span<const Quad> x, int levels, Quad* codes) {
  const Quad far = extreme(x);
  const auto top = static_cast<float>(levels);
  const Quad inverse = -top / far;
  Fit<Quad> sums;
  for (size_t i = 0; i < x.size(); ++i) {
    codes[i] = clamp(nearest(inverse * x[i]), -top, top - 1);
    sums.add(x[i] * x[i], x[i], codes[i]);
  }
  bool has_changed = true;
  for (int sweep = 0; sweep < 5 && has_changed; ++sweep) {
    has_changed = false;
    for (size_t i = 0; i < x.size(); ++i) {
      const Quad weight = x[i] * x[i];
      Fit<Quad> rest = sums.without(weight, x[i], codes[i]);
      const QuadMask is_open = rest.xl > 0;
      const Quad code = clamp(nearest(x[i] * rest.l2 / rest.xl), -top, top - 1);
      rest.add(weight, x[i], code);
      const QuadMask better = is_open & (code != codes[i]) & (rest.l2 > 0) &
                              (rest.xl * rest.xl * sums.l2 > sums.xl * sums.xl * rest.l2);
      if (!any(better)) continue;
      codes[i] = select(better, code, codes[i]);
      sums = {select(better, rest.xl, sums.xl), select(better, rest.l2, sums.l2)};
      has_changed = true;
    }
  }
  const QuadMask is_zero = magnitude(far) < kZeroGroup;
  for (size_t i = 0; i < x.size(); ++i) codes[i] = select(is_zero, Quad{}, codes[i] + top);
  return select(is_zero, Quad{}, scale_of(sums));
}

QuadAffine fit_affine(std::span<const Quad> x, std::span<const Quad> weights,
                      const AffineSearch& search, Quad* codes) {
  const auto top = static_cast<float>(search.max_code);
  Quad low = x[0], high = x[0], total = weights[0], sum_x = total * x[0];
  for (size_t i = 1; i < x.size(); ++i) {
    low = select(x[i] < low, x[i], low);
    high = select(x[i] > high, x[i], high);
    total += weights[i];
    sum_x += weights[i] * x[i];
  }
  low = select(low > 0, Quad{}, low);

  Quad inverse = top / (high - low);
  QuadAffine best{1 / inverse, low};
  Codes candidate;
  for (size_t i = 0; i < x.size(); ++i) {
    candidate[i] = clamp(nearest(inverse * (x[i] - low)), 0, top);
  }
  Quad best_error = affine_error(x, weights, best, search.norm, candidate);
  std::copy_n(candidate.begin(), x.size(), codes);
  for (int step = 0; step <= search.count; ++step) {
    // Each candidate starts from the best minimum so far.
    inverse = (search.start + search.step * static_cast<float>(step) + top) / (high - best.min);
    Quad l{}, l2{}, xl{};
    for (size_t i = 0; i < x.size(); ++i) {
      const Quad code = clamp(nearest(inverse * (x[i] - best.min)), 0, top);
      candidate[i] = code;
      const Quad weighted = weights[i] * code;
      l += weighted;
      l2 += weighted * code;
      xl += weighted * x[i];
    }
    const Quad determinant = total * l2 - l * l;
    QuadAffine fit{(total * xl - sum_x * l) / determinant, (l2 * sum_x - l * xl) / determinant};
    const QuadMask is_above = fit.min > 0;
    fit = {select(is_above, xl / l2, fit.scale), select(is_above, Quad{}, fit.min)};
    const Quad error = affine_error(x, weights, fit, search.norm, candidate);
    const QuadMask better = (determinant > 0) & (error < best_error);
    if (!any(better)) continue;
    keep(better, x, candidate, codes);
    best = {select(better, fit.scale, best.scale), select(better, fit.min, best.min)};
    best_error = select(better, error, best_error);
  }
  const QuadMask is_flat = high <= low;
  for (size_t i = 0; i < x.size(); ++i) codes[i] = select(is_flat, Quad{}, codes[i]);
  return {select(is_flat, Quad{}, best.scale), select(is_flat, low, best.min)};
}

void weigh_by_importance(std::span<const Quad> x, const float* importance, int count, Quad spread,
                         Quad* weights) {
  gather_groups(importance, static_cast<int>(x.size()), count, weights);
  for (size_t i = 0; i < x.size(); ++i) weights[i] *= square_root(spread + x[i] * x[i]);
}

float fit_positive(std::span<const float> x, std::span<const float> weights, int max_code,
                   uint8_t* codes) {
  std::fill_n(codes, x.size(), uint8_t{0});
  const float max = *std::max_element(x.begin(), x.end());
  if (!(max >= kZeroGroup)) return 0;
  const auto code_of = [&](float steps) { return std::clamp(nearest(steps), 0, max_code); };
  const auto top = static_cast<float>(max_code);
  float inverse = 0;
  float best_error = 0;
  for (int i = 0; i <= 8; ++i) {
    const int step = i == 0 ? 0 : i <= 4 ? i - 5 : i - 4;  // 0, -4 .. -1, 1 .. 4
    const float candidate = (0.1f * static_cast<float>(step) + top) / max;
    const float scale = 1 / candidate;
    float error = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      const float difference = x[k] - scale * static_cast<float>(code_of(candidate * x[k]));
      error += weights[k] * difference * difference;
    }
    if (i == 0 || error < best_error) {
      best_error = error;
      inverse = candidate;
    }
  }
  Fit<float> sums;
  for (size_t k = 0; k < x.size(); ++k) {
    codes[k] = static_cast<uint8_t>(code_of(inverse * x[k]));
    sums.add(weights[k], x[k], codes[k]);
  }
  bool has_changed = true;
  for (int sweep = 0; sweep < 5 && has_changed; ++sweep) {
    has_changed = false;
    for (size_t k = 0; k < x.size(); ++k) {
      Fit<float> rest = sums.without(weights[k], x[k], codes[k]);
      if (!(rest.xl > 0 && rest.l2 > 0)) continue;
      const int code = code_of(x[k] * rest.l2 / rest.xl);
      if (code == codes[k]) continue;
      rest.add(weights[k], x[k], static_cast<float>(code));
      if (!(rest.xl * rest.xl * sums.l2 > sums.xl * sums.xl * rest.l2)) continue;
      codes[k] = static_cast<uint8_t>(code);
      sums = rest;
      has_changed = true;
    }
  }
  return sums.l2 > 0 ? sums.xl / sums.l2 : 0;
}

}  // namespace arion
