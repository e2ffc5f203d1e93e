// Errors of the elementary functions in units of the last place, against long double.
#include "base/real_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace arion {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Error of `got` in units of the last place of `want`.
double ulps(double got, long double want) {
  const double w = static_cast<double>(want);
  const double unit = std::nextafter(std::fabs(w), kInfinity) - std::fabs(w);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / unit);
}

struct Sampler {
  std::mt19937_64 bits{17};
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
  }
};

constexpr int kSamples = 200000;

TEST(RealMath, ExpIsWithinTwoUlps) {
  Sampler sampler;
  double worst = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double x = sampler.between(-708, 709);
    const double y = sampler.between(-1, 1);
    worst = std::max({worst, ulps(real::exp(x), std::exp(static_cast<long double>(x))),
                      ulps(real::exp(y), std::exp(static_cast<long double>(y)))});
  }
  EXPECT_LT(worst, 1.5);
  EXPECT_EQ(real::exp(0), 1);
  EXPECT_EQ(real::exp(-kInfinity), 0);
  EXPECT_EQ(real::exp(kInfinity), kInfinity);
  EXPECT_EQ(real::exp(-1000), 0);
  EXPECT_EQ(real::exp(-744.4400719213812), 0x1p-1074);
  EXPECT_TRUE(std::isnan(real::exp(NAN)));
}

TEST(RealMath, LogIsWithinTwoUlps) {
  Sampler sampler;
  double worst = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double x = std::exp(sampler.between(-740, 700));
    const double y = sampler.between(0.5, 2);
    worst = std::max({worst, ulps(real::log(x), std::log(static_cast<long double>(x))),
                      ulps(real::log(y), std::log(static_cast<long double>(y)))});
  }
  EXPECT_LT(worst, 1.5);
  EXPECT_EQ(real::log(1), 0);
  EXPECT_EQ(real::log(0), -kInfinity);
  EXPECT_EQ(real::log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(real::log(-1)));
}

TEST(RealMath, Log1pIsWithinTwoUlps) {
  Sampler sampler;
  double worst = 0;
  for (int i = 0; i < kSamples; ++i) {
    for (const double x : {sampler.between(-1, 1), sampler.between(-1e-9, 1e-9),
                           sampler.between(1, 1e12), -1 + std::exp(sampler.between(-30, 0))}) {
      worst = std::max(worst, ulps(real::log1p(x), std::log1p(static_cast<long double>(x))));
    }
  }
  EXPECT_LT(worst, 1.6);
  EXPECT_EQ(real::log1p(0), 0);
  EXPECT_EQ(real::log1p(-1), -kInfinity);
  EXPECT_TRUE(std::isnan(real::log1p(-2)));
}

TEST(RealMath, PowIsWithinTwoUlps) {
  Sampler sampler;
  double worst = 0;
  for (int i = 0; i < kSamples / 4; ++i) {
    const double theta = std::exp(sampler.between(0, 20));
    const double exponent = sampler.between(-1, 1);
    const double base = sampler.between(0.5, 2), large = sampler.between(-900, 900);
    worst = std::max(
        {worst,
         ulps(real::pow(theta, exponent), std::pow(static_cast<long double>(theta), exponent)),
         ulps(real::pow(base, large), std::pow(static_cast<long double>(base), large))});
  }
  EXPECT_LT(worst, 1.5);
  EXPECT_EQ(real::pow(10000, 0), 1);
  EXPECT_EQ(real::pow(2, 10), 1024);
  EXPECT_EQ(real::pow(2, 1e308), kInfinity);
  EXPECT_EQ(real::pow(2, -1e308), 0);
  EXPECT_TRUE(std::isnan(real::pow(-1, 0.5)));
}

TEST(RealMath, SinCosIsWithinTwoUlps) {
  Sampler sampler;
  double worst = 0;
  for (int i = 0; i < kSamples; ++i) {
    for (const double range : {1.0, 100.0, 1e5, 1e7}) {
      const double x = sampler.between(-range, range);
      const real::SinCos got = real::sincos(x);
      worst = std::max({worst, ulps(got.sin, std::sin(static_cast<long double>(x))),
                        ulps(got.cos, std::cos(static_cast<long double>(x)))});
    }
  }
  EXPECT_LT(worst, 1.5);
  EXPECT_EQ(real::sincos(0).sin, 0);
  EXPECT_EQ(real::sincos(0).cos, 1);
  EXPECT_TRUE(std::isnan(real::sincos(kInfinity).sin));
  EXPECT_TRUE(std::isnan(real::sincos(0x1p31).cos));
}

TEST(RealMath, SinCosIsAccurateBesideMultiplesOfHalfPi) {
  double worst = 0;
  for (int64_t n = 1; n < 6000000; n += 1009) {
    const double x = static_cast<double>(n) * 1.5707963267948966;
    const real::SinCos got = real::sincos(x);
    worst = std::max({worst, ulps(got.sin, std::sin(static_cast<long double>(x))),
                      ulps(got.cos, std::cos(static_cast<long double>(x)))});
  }
  EXPECT_LT(worst, 1.6);
}

}  // namespace
}  // namespace arion
