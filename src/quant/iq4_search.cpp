// The curve is searched by counting the midpoints between its values that lie below.
#include "quant/iq4_search.h"

#include <array>
#include <cmath>

#include "quant/code_search.h"
#include "quant/code_table.h"

namespace arion {

namespace {

// Midpoints between neighbouring values, and the steps across them, in all lanes.
struct Curve {
  float first = 0;
  std::array<Quad, 15> midpoint, step;

  Curve() {
    const auto& value = code_values(CodeTable::iq4).value;
    first = static_cast<float>(value[0]);
    for (size_t i = 0; i < midpoint.size(); ++i) {
      midpoint[i] = Quad{} + 0.5f * static_cast<float>(value[i] + value[i + 1]);
      step[i] = Quad{} + static_cast<float>(value[i + 1] - value[i]);
    }
  }
};

const Curve& curve() {
  static const Curve curve;
  return curve;
}

Quad masked(QuadMask mask, Quad x) {
  return reinterpret_cast<Quad>(mask & reinterpret_cast<QuadMask>(x));
}

Quad nearest_value(const Curve& curve, Quad x) {
  Quad value = Quad{} + curve.first;
  for (size_t i = 0; i < curve.midpoint.size(); ++i) {
    value += masked(x >= curve.midpoint[i], curve.step[i]);
  }
  return value;
}

Quad nearest_position(const Curve& curve, Quad x) {
  Quad position{};
  for (const Quad midpoint : curve.midpoint) position += masked(x >= midpoint, Quad{} + 1);
  return position;
}

}  // namespace

Quad fit_iq4(std::span<const Quad> x, std::span<const Quad> weights) {
  constexpr int kTries = 7;
  const Curve& values = curve();
  const Quad far = extreme(x);
  Quad xq{}, q2{};
  const auto round = [&](Quad inverse) {
    xq = q2 = Quad{};
    for (size_t i = 0; i < x.size(); ++i) {
      const Quad q = nearest_value(values, inverse * x[i]);
      const Quad weighted = weights[i] * q;
      xq += weighted * x[i];
      q2 += weighted * q;
    }
  };
  round(1 / (-far / values.first));
  Quad scale = select(q2 > 0, xq / q2, Quad{});
  Quad best = scale * xq;
  for (int step = -kTries; step <= kTries; ++step) {
    round((static_cast<float>(step) + values.first) / far);
    const QuadMask better = (q2 > 0) & (xq * xq > best * q2);
    scale = select(better, xq / q2, scale);
    best = select(better, scale * xq, best);
  }
  return select(magnitude(far) < kZeroGroup, Quad{}, scale);
}

void round_to_iq4(std::span<const Quad> x, Quad scale, Quad* codes) {
  const Quad inverse = select(scale != 0, 1 / scale, Quad{});
  for (size_t i = 0; i < x.size(); ++i) {
    codes[i] = nearest_position(curve(), inverse * x[i]);
  }
}

void weigh_iq4(std::span<const Quad> x, const float* importance, int count, Quad spread,
               Quad* weights) {
  if (importance == nullptr) {
    for (size_t i = 0; i < x.size(); ++i) weights[i] = x[i] * x[i];
    return;
  }
  weigh_by_importance(x, importance, count, spread, weights);
}

}  // namespace arion
