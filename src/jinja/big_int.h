// Integers beyond 64 bits, as Python has them, up to the size Python agrees to print.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arion::jinja {

// Sign and magnitude. Results over kMaxBits throw Error: Python refuses to print them.
class BigInt {
 public:
  static constexpr size_t kMaxBits = 14'000;  // just below the 4,300 digits that str() prints

  BigInt() = default;
  explicit BigInt(int64_t value);
  // Integral and finite; rounds towards zero.
  static BigInt from_double(double value);
  // Digits of `base` (2 to 36) in any case, at least one, no sign.
  static std::optional<BigInt> parse(std::string_view digits, uint32_t base);

  std::string to_string(uint32_t base = 10) const;  // base 2 to 16; with a minus sign
  std::optional<int64_t> to_int64() const;
  double to_double() const;  // nearest; infinite beyond the range
  bool is_zero() const { return limbs_.empty(); }
  bool is_negative() const { return is_negative_; }
  bool is_odd() const { return !limbs_.empty() && (limbs_[0] & 1u) != 0; }
  size_t bit_count() const;

  BigInt operator-() const;
  BigInt operator+(const BigInt& other) const;
  BigInt operator-(const BigInt& other) const { return *this + -other; }
  BigInt operator*(const BigInt& other) const;
  // Towards minus infinity, the remainder has the divisor's sign. The divisor is not zero.
  struct Division;
  Division divide(const BigInt& divisor) const;
  BigInt power(uint64_t exponent) const;

  std::strong_ordering operator<=>(const BigInt& other) const;
  bool operator==(const BigInt& other) const = default;

 private:
  using Limbs = std::vector<uint32_t>;  // little endian, no leading zeros
  static std::strong_ordering compare(const Limbs& a, const Limbs& b);
  static Limbs add(const Limbs& a, const Limbs& b);
  static Limbs subtract(const Limbs& a, const Limbs& b);         // a >= b
  static uint32_t divide_small(Limbs& value, uint32_t divisor);  // returns the remainder
  static BigInt make(Limbs limbs, bool is_negative);

  Limbs limbs_;
  bool is_negative_ = false;
};

struct BigInt::Division {
  BigInt quotient, remainder;
};

}  // namespace arion::jinja
