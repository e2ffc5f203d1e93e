// The curve is searched by counting the midpoints between its values that lie below.
#include "quant/iq4_search.h"

#include <array>
#include <cmath>

#include "quant/code_search.h"

namespace arion {

namespace {

constexpr const std::array<int8_t, 16>& kCurve = code_values(CodeTable::iq4).value;

QuadMask bits(float x) {
  return reinterpret_cast<QuadMask>(Quad{} + x);
}

// For each lane the sum of step[i] over the midpoints i that are not above x.
template <typename Step>
Quad sum_passed(Quad x, Step step) {
  Quad sum{};
  for (int i = 0; i < 15; ++i) {
    const float midpoint = 0.5f * static_cast<float>(kCurve[i] + kCurve[i + 1]);
    sum += reinterpret_cast<Quad>((x >= midpoint) & bits(step(i)));
  }
  return sum;
}

Quad nearest_value(Quad x) {
  return sum_passed(x, [](int i) { return static_cast<float>(kCurve[i + 1] - kCurve[i]); }) +
         static_cast<float>(kCurve[0]);
}

}  // namespace

Quad fit_iq4(std::span<const Quad> x, std::span<const Quad> weights) {
  constexpr int kTries = 7;
  const Quad far = extreme(x);
  const auto first = static_cast<float>(kCurve[0]);
  Quad xq{}, q2{};
  const auto round = [&](Quad inverse) {
    xq = q2 = Quad{};
    for (size_t i = 0; i < x.size(); ++i) {
      const Quad q = nearest_value(inverse * x[i]);
      const Quad weighted = weights[i] * q;
      xq += weighted * x[i];
      q2 += weighted * q;
    }
  };
  round(1 / (-far / first));
  Quad scale = select(q2 > 0, xq / q2, Quad{});
  Quad best = scale * xq;
  for (int step = -kTries; step <= kTries; ++step) {
    round((static_cast<float>(step) + first) / far);
    const QuadMask better = (q2 > 0) & (xq * xq > best * q2);
    scale = select(better, xq / q2, scale);
    best = select(better, scale * xq, best);
  }
  return select(magnitude(far) < kZeroGroup, Quad{}, scale);
}

void round_to_iq4(std::span<const Quad> x, Quad scale, Quad* codes) {
  const Quad inverse = select(scale != 0, 1 / scale, Quad{});
  for (size_t i = 0; i < x.size(); ++i) {
    codes[i] = sum_passed(inverse * x[i], [](int) { return 1.0f; });
  }
}

void weigh_iq4(std::span<const Quad> x, const float* importance, int count, Quad spread,
               Quad* weights) {
  if (importance == nullptr) {
    for (size_t i = 0; i < x.size(); ++i) weights[i] = x[i] * x[i];
    return;
  }
  gather_groups(importance, static_cast<int>(x.size()), count, weights);
  for (size_t i = 0; i < x.size(); ++i) weights[i] *= square_root(spread + x[i] * x[i]);
}

}  // namespace arion
