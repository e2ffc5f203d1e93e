// The exponential's accuracy and the fixed order of the sum.
#include "sample/softmax.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "sample/random_rows.h"

namespace arion {
namespace {

TEST(Softmax, ExponentialIsWithinTwoUnitsInTheLastPlace) {
  double worst = 0;
  for (int i = 0; i < 870000; ++i) {
    const float x = -static_cast<float>(i) * 1e-4f;
    const double exact = std::exp(static_cast<double>(x));
    const double unit = std::ldexp(1.0, std::ilogb(exact) - 23);
    worst = std::max(worst, std::abs(static_cast<double>(exp_nonpositive(x)) - exact) / unit);
  }
  EXPECT_LE(worst, 2.0);
  EXPECT_EQ(exp_nonpositive(0.0f), 1.0f);
  EXPECT_EQ(exp_nonpositive(-87.0f), 0.0f);
  EXPECT_EQ(exp_nonpositive(-std::numeric_limits<float>::infinity()), 0.0f);
}

// The definition, lane by lane.
double sum_by_definition(const std::vector<float>& row, float peak, float temperature) {
  double total = 0;
  for (size_t begin = 0; begin < row.size(); begin += 4096) {
    float lanes[16] = {};
    for (size_t id = begin; id < std::min(begin + 4096, row.size()); ++id) {
      lanes[id % 16] += exp_nonpositive((row[id] - peak) / temperature);
    }
    for (int half = 8; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    }
    total += lanes[0];
  }
  return total;
}

TEST(Softmax, SumFollowsTheFixedOrderBitForBit) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const std::vector<float> row = test::random_row(seed);
    for (const float temperature : {1.0f, 0.3f, 7.0f}) {
      const float peak = *std::max_element(row.begin(), row.end());
      EXPECT_EQ(std::bit_cast<uint64_t>(sum_exp(row, peak, temperature)),
                std::bit_cast<uint64_t>(sum_by_definition(row, peak, temperature)));
    }
  }
}

TEST(Softmax, MomentsAgreeWithFp64) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const std::vector<float> row = test::random_row(seed);
    const float peak = *std::max_element(row.begin(), row.end());
    for (const float temperature : {1.0f, 0.3f}) {
      double sum = 0, weighted = 0;
      size_t count = 0;
      for (const float logit : row) {
        if (!std::isfinite(logit)) continue;
        const double x = static_cast<double>(logit - peak) / static_cast<double>(temperature);
        ++count;
        sum += std::exp(x);
        weighted += x * std::exp(x);
      }
      const ExpMoments moments = sum_exp_moments(row, peak, temperature);
      EXPECT_EQ(moments.count, count);
      EXPECT_EQ(moments.sum, sum_exp(row, peak, temperature));
      EXPECT_NEAR(moments.sum, sum, 2e-6 * sum);
      EXPECT_NEAR(moments.weighted, weighted, 4e-6 * sum * 10);
    }
  }
}

}  // namespace
}  // namespace arion
