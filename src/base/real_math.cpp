// Series with error bounds, in double-double arithmetic where one double is not enough.
#include "base/real_math.h"

#include <bit>
#include <cstdint>
#include <limits>

namespace arion::real {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ln 2 in two parts; the first has 32 bits, so that its products with exponents are exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;

// An unevaluated sum with |low| at most half a unit in the last place of high.
struct DoubleDouble {
  double high, low;
};

DoubleDouble two_sum(double a, double b) {  // exact (Knuth)
  const double sum = a + b;
  const double bb = sum - a;
  return {sum, (a - (sum - bb)) + (b - bb)};
}

DoubleDouble two_product(double a, double b) {  // exact (Dekker, Veltkamp's split)
  constexpr double kSplit = 134217729.0;        // 2^27 + 1
  const double sa = kSplit * a, sb = kSplit * b;
  const double ah = sa - (sa - a), bh = sb - (sb - b);
  const double al = a - ah, bl = b - bh;
  const double product = a * b;
  return {product, ((ah * bh - product) + ah * bl + al * bh) + al * bl};
}

DoubleDouble add(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble s = two_sum(a.high, b.high);
  return two_sum(s.high, s.low + (a.low + b.low));
}

DoubleDouble multiply(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble p = two_product(a.high, b.high);
  return two_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

DoubleDouble divide(double a, DoubleDouble b) {
  const double quotient = a / b.high;
  const DoubleDouble p = two_product(quotient, b.high);
  const double rest = ((a - p.high) - p.low) - quotient * b.low;
  return two_sum(quotient, rest / b.high);
}

// x = 2^exponent * mantissa with mantissa in [sqrt(1/2), sqrt(2)); x positive and finite.
struct Binary {
  int exponent;
  double mantissa;
};

Binary split_binary(double x) {
  int exponent = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    exponent = -54;
  }
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1022;
  double mantissa = std::bit_cast<double>((bits & 0x000fffffffffffffull) | 0x3fe0000000000000ull);
  if (mantissa < kSqrtHalf) {
    mantissa *= 2;
    --exponent;
  }
  return {exponent, mantissa};
}

double power_of_two(int exponent) {  // -1022..1023
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

// exponent * ln 2 + log(1 + f), |f| <= sqrt(2) - 1. With s = f / (2 + f):
// log(1 + f) = 2 atanh(s) = f - f^2/2 + s * (f^2/2 + 2 * (s^2/3 + s^4/5 + ...)).
double log_near_one(int exponent, double f) {
  const double s = f / (2 + f);
  const double z = s * s;
  double series = 2.0 / 25;  // 0.03^12 / 25 < 2^-64
  for (int n = 23; n >= 3; n -= 2) series = series * z + 2.0 / n;
  series *= z;
  const double half_square = 0.5 * f * f;
  const double k = exponent;
  return k * kLn2High - ((half_square - (s * (half_square + series) + k * kLn2Low)) - f);
}

DoubleDouble log_extended(double x) {
  const Binary parts = split_binary(x);
  const DoubleDouble s = divide(parts.mantissa - 1, two_sum(parts.mantissa, 1));
  const DoubleDouble z = multiply(s, s);
  DoubleDouble series = divide(1, {35, 0});  // 0.03^17 / 35 < 2^-90
  for (int n = 33; n >= 1; n -= 2) series = add(multiply(series, z), divide(1, {double(n), 0}));
  const DoubleDouble log_mantissa = multiply({2 * s.high, 2 * s.low}, series);
  // 42 + 56 bits of ln 2.
  const double k = parts.exponent;
  return add(two_sum(k * 0x1.62e42fefa3800p-1, k * 0x1.ef35793c76730p-45), log_mantissa);
}

// e^(x + low) with |low| tiny against x.
double exp_extended(double x, double low) {
  if (x > 709.79) return kInfinity;
  if (x < -745.2) return 0;
  constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
  const int n = static_cast<int>(x * kInverseLn2 + (x < 0 ? -0.5 : 0.5));
  const double high = x - n * kLn2High;  // exact
  low -= n * kLn2Low;
  const double r = high + low;  // |r| <= ln(2) / 2
  const double rounding = (high - r) + low;
  double series = 1.0 / 14;  // e^r = 1 + r + r^2/2 (1 + r/3 (1 + r/4 (1 + ... r/14)))
  for (int i = 13; i >= 3; --i) series = (1 + series * r) / i;
  const double tail = 0.5 * r * r * (1 + r * series);
  const double value = 1 + (r + (rounding + tail));
  const int half = n / 2;
  return value * power_of_two(half) * power_of_two(n - half);
}

// pi/2 in parts of 22 bits, whose products with quarter turns below 2^31 are exact, and a rest.
constexpr double kHalfPi[] = {0x1.921fb00000000p+0, 0x1.5110b00000000p-22, 0x1.1846980000000p-44,
                              0x1.3198a00000000p-69, 0x1.701b839a25205p-92};

// Taylor series on |x| <= pi/4; `low` is the part of the angle below x's last place.
double sin_kernel(double x, double low) {
  const double z = x * x;
  double series = -1.0 / (18 * 19);
  for (int n = 16; n >= 4; n -= 2) series = -(1 + z * series) / (n * (n + 1));
  const double tail = -x * z * (1 + z * series) / 6;
  return x + (tail + low * (1 - 0.5 * z));
}

double cos_kernel(double x, double low) {
  const double z = x * x;
  double series = -1.0 / (17 * 18);
  for (int n = 15; n >= 5; n -= 2) series = -(1 + z * series) / (n * (n + 1));
  const double tail = z * z * (1 + z * series) / 24;
  const double half = 0.5 * z;
  const double head = 1 - half;
  return head + (((1 - head) - half) + (tail - x * low));
}

}  // namespace

double exp(double x) {
  return x != x ? x : exp_extended(x, 0);
}

double log(double x) {
  if (x != x || x < 0) return kNan;
  if (x == 0) return -kInfinity;
  if (x == kInfinity) return x;
  const Binary parts = split_binary(x);
  return log_near_one(parts.exponent, parts.mantissa - 1);
}

double log1p(double x) {
  if (x != x || x < -1) return kNan;
  if (x == -1) return -kInfinity;
  if (x == kInfinity) return x;
  if (x > -0.29 && x < 0.41) return log_near_one(0, x);
  const DoubleDouble sum = two_sum(1, x);
  return log(sum.high) + sum.low / sum.high;
}

double pow(double base, double exponent) {
  if (!(base > 0) || exponent != exponent) return kNan;
  if (exponent == 0 || base == 1) return 1;
  if (base == kInfinity) return exponent > 0 ? kInfinity : 0;
  const double magnitude = exponent < 0 ? -exponent : exponent;
  if (magnitude > 1e300) return (exponent > 0) == (base > 1) ? kInfinity : 0;
  const DoubleDouble log_base = log_extended(base);
  const DoubleDouble product = multiply(log_base, {exponent, 0});
  return exp_extended(product.high, product.low);
}

SinCos sincos(double angle) {
  if (!(angle > -0x1p31 && angle < 0x1p31)) return {kNan, kNan};
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  const auto quarters = static_cast<int64_t>(angle * kTwoOverPi + (angle < 0 ? -0.5 : 0.5));
  const auto n = static_cast<double>(quarters);
  DoubleDouble rest{angle, 0};
  for (const double part : kHalfPi) {
    const DoubleDouble difference = two_sum(rest.high, -n * part);
    rest = two_sum(difference.high, difference.low + rest.low);
  }
  const double s = sin_kernel(rest.high, rest.low);
  const double c = cos_kernel(rest.high, rest.low);
  switch (quarters & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

}  // namespace arion::real
