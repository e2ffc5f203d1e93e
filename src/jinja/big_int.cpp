// Schoolbook arithmetic: numbers are at most 14,000 bits long.
#include "jinja/big_int.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace arion::jinja {
namespace {

void trim(std::vector<uint32_t>& limbs) {
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

}  // namespace

BigInt::BigInt(int64_t value) : is_negative_(value < 0) {
  uint64_t magnitude = static_cast<uint64_t>(value);
  if (value < 0) magnitude = 0 - magnitude;
  for (; magnitude != 0; magnitude >>= 32) limbs_.push_back(static_cast<uint32_t>(magnitude));
}

BigInt BigInt::make(Limbs limbs, bool is_negative) {
  trim(limbs);
  BigInt result;
  result.is_negative_ = is_negative && !limbs.empty();
  result.limbs_ = std::move(limbs);
  if (result.bit_count() > kMaxBits) {
    fail(ErrorCode::bad_input, "integer of {} bits is too large, at most {} are supported",
         result.bit_count(), kMaxBits);
  }
  return result;
}

BigInt BigInt::from_double(double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::abs(std::trunc(value)), &exponent);
  if (fraction == 0) return BigInt();
  // 53 bits of mantissa, then zeros.
  const uint64_t mantissa = static_cast<uint64_t>(std::ldexp(fraction, 53));
  const int shift = exponent - 53;
  if (shift <= 0) {
    const BigInt small(static_cast<int64_t>(mantissa >> -shift));
    return value < 0 ? -small : small;
  }
  BigInt result = BigInt(static_cast<int64_t>(mantissa)) * BigInt(2).power(shift);
  return value < 0 ? -result : result;
}

std::optional<BigInt> BigInt::parse(std::string_view digits, uint32_t base) {
  if (digits.empty()) return std::nullopt;
  Limbs limbs;
  for (const char c : digits) {
    const uint32_t digit = static_cast<uint32_t>(digit_value(c));
    if (digit >= base) return std::nullopt;
    uint64_t carry = digit;
    for (uint32_t& limb : limbs) {
      carry += uint64_t{limb} * base;
      limb = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs.push_back(static_cast<uint32_t>(carry));
    if (limbs.size() * 32 > kMaxBits + 64) break;  // make() refuses it
  }
  return make(std::move(limbs), false);
}

std::string BigInt::to_string(uint32_t base) const {
  if (is_zero()) return "0";
  // As many digits at once as fit a limb.
  uint32_t chunk = base, chunk_digits = 1;
  for (; uint64_t{chunk} * base <= std::numeric_limits<uint32_t>::max(); ++chunk_digits) {
    chunk *= base;
  }
  std::string digits;
  for (Limbs rest = limbs_; !rest.empty();) {
    uint32_t part = divide_small(rest, chunk);
    for (uint32_t i = 0; i < chunk_digits; ++i, part /= base) {
      digits += "0123456789abcdef"[part % base];
    }
  }
  while (digits.back() == '0') digits.pop_back();
  if (is_negative_) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

size_t BigInt::bit_count() const {
  return limbs_.empty() ? 0 : limbs_.size() * 32 - std::countl_zero(limbs_.back());
}

std::optional<int64_t> BigInt::to_int64() const {
  if (limbs_.size() > 2) return std::nullopt;
  uint64_t magnitude = 0;
  for (size_t i = limbs_.size(); i-- > 0;) magnitude = magnitude << 32 | limbs_[i];
  const uint64_t most = std::numeric_limits<int64_t>::max() + uint64_t{is_negative_};
  if (magnitude > most) return std::nullopt;
  return static_cast<int64_t>(is_negative_ ? 0 - magnitude : magnitude);
}

double BigInt::to_double() const {
  const size_t bits = bit_count();
  // The top 64 bits, the last one sticky, round like the whole number.
  uint64_t top = 0;
  const size_t skipped = bits > 64 ? bits - 64 : 0;
  for (size_t bit = bits; bit-- > skipped;) {
    top = top << 1 | (limbs_[bit / 32] >> (bit % 32) & 1u);
  }
  bool is_inexact = false;
  for (size_t bit = 0; bit < skipped && !is_inexact; ++bit) {
    is_inexact = (limbs_[bit / 32] >> (bit % 32) & 1u) != 0;
  }
  if (is_inexact) top |= 1;
  const double magnitude = std::ldexp(static_cast<double>(top), static_cast<int>(skipped));
  return is_negative_ ? -magnitude : magnitude;
}

std::strong_ordering BigInt::compare(const Limbs& a, const Limbs& b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  for (size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) return a[i] <=> b[i];
  }
  return std::strong_ordering::equal;
}

BigInt::Limbs BigInt::add(const Limbs& a, const Limbs& b) {
  Limbs sum(std::max(a.size(), b.size()) + 1);
  uint64_t carry = 0;
  for (size_t i = 0; i < sum.size(); ++i) {
    carry += uint64_t{i < a.size() ? a[i] : 0} + (i < b.size() ? b[i] : 0);
    sum[i] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  return sum;
}

BigInt::Limbs BigInt::subtract(const Limbs& a, const Limbs& b) {
  Limbs difference(a.size());
  uint32_t borrow = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const uint64_t taken = uint64_t{i < b.size() ? b[i] : 0} + borrow;
    difference[i] = static_cast<uint32_t>(a[i] - taken);
    borrow = a[i] < taken ? 1 : 0;
  }
  return difference;
}

uint32_t BigInt::divide_small(Limbs& value, uint32_t divisor) {
  uint64_t rest = 0;
  for (size_t i = value.size(); i-- > 0;) {
    rest = rest << 32 | value[i];
    value[i] = static_cast<uint32_t>(rest / divisor);
    rest %= divisor;
  }
  trim(value);
  return static_cast<uint32_t>(rest);
}

BigInt BigInt::operator-() const {
  BigInt result = *this;
  result.is_negative_ = !is_negative_ && !is_zero();
  return result;
}

BigInt BigInt::operator+(const BigInt& other) const {
  if (is_negative_ == other.is_negative_) return make(add(limbs_, other.limbs_), is_negative_);
  return compare(limbs_, other.limbs_) >= 0 ? make(subtract(limbs_, other.limbs_), is_negative_)
                                            : make(subtract(other.limbs_, limbs_), !is_negative_);
}

BigInt BigInt::operator*(const BigInt& other) const {
  Limbs product(limbs_.size() + other.limbs_.size());
  for (size_t i = 0; i < limbs_.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < other.limbs_.size(); ++j) {
      carry += uint64_t{limbs_[i]} * other.limbs_[j] + product[i + j];
      product[i + j] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    product[i + other.limbs_.size()] = static_cast<uint32_t>(carry);
  }
  return make(std::move(product), is_negative_ != other.is_negative_);
}

BigInt::Division BigInt::divide(const BigInt& divisor) const {
  Limbs quotient(limbs_.size()), rest;
  if (divisor.limbs_.size() == 1) {
    quotient = limbs_;
    const uint32_t small = divide_small(quotient, divisor.limbs_[0]);
    if (small != 0) rest.push_back(small);
  } else {
    // Bit by bit: at most 14,000 steps over 438 limbs.
    for (size_t bit = bit_count(); bit-- > 0;) {
      uint32_t carry = limbs_[bit / 32] >> (bit % 32) & 1u;
      for (uint32_t& limb : rest) {
        const uint32_t out = limb >> 31;
        limb = limb << 1 | carry;
        carry = out;
      }
      if (carry != 0) rest.push_back(carry);
      if (compare(rest, divisor.limbs_) >= 0) {
        rest = subtract(rest, divisor.limbs_);
        trim(rest);
        quotient[bit / 32] |= 1u << (bit % 32);
      }
    }
  }
  Division result{make(std::move(quotient), is_negative_ != divisor.is_negative_),
                  make(std::move(rest), is_negative_)};
  if (!result.remainder.is_zero() && is_negative_ != divisor.is_negative_) {
    result.quotient = result.quotient - BigInt(1);
    result.remainder = result.remainder + divisor;
  }
  return result;
}

BigInt BigInt::power(uint64_t exponent) const {
  BigInt result(1), square = *this;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = result * square;
    if (exponent > 1) square = square * square;
  }
  return result;
}

std::strong_ordering BigInt::operator<=>(const BigInt& other) const {
  if (is_negative_ != other.is_negative_) {
    return is_negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  return is_negative_ ? compare(other.limbs_, limbs_) : compare(limbs_, other.limbs_);
}

}  // namespace arion::jinja
