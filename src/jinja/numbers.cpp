#include "jinja/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/python_unicode.h"

namespace arion::jinja {
namespace {

// Work of one operation on big integers, in steps of the budget.
constexpr uint64_t kBigSteps = 500;

[[noreturn]] void division_by_zero(std::string_view what) {
  fail(ErrorCode::bad_input, "{} by zero", what);
}

Value calculate_big(Heap& heap, BinaryOp op, const BigInt& a, const BigInt& b) {
  heap.spend(kBigSteps);
  switch (op) {
    case BinaryOp::add:
      return make_integer(heap, a + b);
    case BinaryOp::subtract:
      return make_integer(heap, a - b);
    case BinaryOp::multiply:
      return make_integer(heap, a * b);
    case BinaryOp::floor_divide:
    case BinaryOp::modulo: {
      if (b.is_zero()) division_by_zero("integer division or modulo");
      const BigInt::Division division = a.divide(b);
      return make_integer(heap, op == BinaryOp::modulo ? division.remainder : division.quotient);
    }
    case BinaryOp::divide:
    case BinaryOp::power:
      break;
  }
  fail(ErrorCode::bad_input, "unsupported operation on integers");
}

// Nothing where the result needs more than 64 bits.
std::optional<int64_t> calculate_small(BinaryOp op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflows = false;
  switch (op) {
    case BinaryOp::add:
      overflows = __builtin_add_overflow(a, b, &result);
      break;
    case BinaryOp::subtract:
      overflows = __builtin_sub_overflow(a, b, &result);
      break;
    case BinaryOp::multiply:
      overflows = __builtin_mul_overflow(a, b, &result);
      break;
    case BinaryOp::floor_divide:
    case BinaryOp::modulo: {
      if (b == 0) division_by_zero("integer division or modulo");
      if (b == -1) {
        if (op == BinaryOp::modulo) return 0;
        overflows = __builtin_sub_overflow(int64_t{0}, a, &result);
        break;
      }
      int64_t quotient = a / b, rest = a % b;
      if (rest != 0 && (rest < 0) != (b < 0)) {
        --quotient;
        rest += b;
      }
      result = op == BinaryOp::modulo ? rest : quotient;
      break;
    }
    case BinaryOp::divide:
    case BinaryOp::power:
      return std::nullopt;
  }
  if (overflows) return std::nullopt;
  return result;
}

double finite_or_fail(double value, std::string_view what) {
  if (!std::isfinite(value)) fail(ErrorCode::bad_input, "{}", what);
  return value;
}

Value divide_integers(const Value& a, const Value& b) {
  const BigInt divisor = to_big(b);
  if (divisor.is_zero()) division_by_zero("division");
  if (a.is_small_integer() && b.is_small_integer()) {
    // The 64 bits of mantissa hold both exactly.
    return Value::real(static_cast<double>(static_cast<long double>(a.as_integer()) /
                                           static_cast<long double>(b.as_integer())));
  }
  constexpr std::string_view kTooLarge = "integer division result too large for a float";
  const double quotient = finite_or_fail(to_double(a), kTooLarge) / to_double(b);
  return Value::real(finite_or_fail(quotient, kTooLarge));
}

double power_of_reals(double a, double b) {
  if (a == 0 && b < 0) fail(ErrorCode::bad_input, "0.0 cannot be raised to a negative power");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) {
    fail(ErrorCode::bad_input, "complex numbers are not supported");
  }
  const double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) {
    fail(ErrorCode::bad_input, "(34, 'Numerical result out of range')");
  }
  return result;
}

Value power_of_integers(Heap& heap, const Value& a, const Value& b) {
  const BigInt exponent = to_big(b);
  if (exponent.is_negative()) {
    return Value::real(power_of_reals(to_double(a), to_double(b)));
  }
  const BigInt base = to_big(a);
  const bool stays_small = base.bit_count() <= 1;  // 0, 1, -1
  const auto times = exponent.to_int64();
  if (!times && !stays_small) fail(ErrorCode::bad_input, "exponent is too large");
  heap.spend(kBigSteps);
  if (stays_small) {
    return make_integer(heap, exponent.is_zero()  ? BigInt(1)
                              : exponent.is_odd() ? base
                                                  : base * base);
  }
  return make_integer(heap, base.power(static_cast<uint64_t>(*times)));
}

// Python's float_floor_div and float_rem.
Value divide_floor(BinaryOp op, double a, double b) {
  if (b == 0) division_by_zero(op == BinaryOp::modulo ? "float modulo" : "float floor division");
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0) {
    if ((b < 0) != (rest < 0)) {
      rest += b;
      quotient -= 1;
    }
  } else {
    rest = std::copysign(0.0, b);
  }
  if (op == BinaryOp::modulo) return Value::real(rest);
  if (quotient == 0) return Value::real(std::copysign(0.0, a / b));
  double floored = std::floor(quotient);
  if (quotient - floored > 0.5) floored += 1;
  return Value::real(floored);
}

Value calculate_reals(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::add:
      return Value::real(a + b);
    case BinaryOp::subtract:
      return Value::real(a - b);
    case BinaryOp::multiply:
      return Value::real(a * b);
    case BinaryOp::divide:
      if (b == 0) division_by_zero("float division");
      return Value::real(a / b);
    case BinaryOp::floor_divide:
    case BinaryOp::modulo:
      return divide_floor(op, a, b);
    case BinaryOp::power:
      break;
  }
  return Value::real(power_of_reals(a, b));
}

double to_finite_double(const Value& number) {
  const double value = to_double(number);
  if (number.is(Kind::big_integer)) finite_or_fail(value, "int too large to convert to float");
  return value;
}

std::partial_ordering compare_integer_to_real(const Value& a, double b) {
  if (std::isnan(b)) return std::partial_ordering::unordered;
  if (std::isinf(b)) return b > 0 ? std::partial_ordering::less : std::partial_ordering::greater;
  const std::strong_ordering whole = to_big(a) <=> BigInt::from_double(b);
  if (whole != std::strong_ordering::equal) return whole;
  return 0.0 <=> b - std::trunc(b);
}

std::string_view strip_spaces(std::string_view text) {
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    if (!(char_flags(c.code_point) & kWhitespace)) break;
    text.remove_prefix(c.length);
  }
  for (size_t at = text.size(); at > 0;) {
    do --at;
    while (at > 0 && (text[at] & 0xC0) == 0x80);
    if (!(char_flags(decode_utf8(text.substr(at)).code_point) & kWhitespace)) break;
    text = text.substr(0, at);
  }
  return text;
}

// Removes underscores between digits; nothing where one is elsewhere.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      result += text[i];
    } else if (i == 0 || i + 1 == text.size() || !std::isalnum(static_cast<uint8_t>(text[i - 1])) ||
               !std::isalnum(static_cast<uint8_t>(text[i + 1]))) {
      return std::nullopt;
    }
  }
  return result;
}

}  // namespace

std::string_view symbol(BinaryOp op) {
  constexpr std::string_view kSymbols[] = {"+", "-", "*", "/", "//", "%", "** or pow()"};
  return kSymbols[static_cast<size_t>(op)];
}

BigInt to_big(const Value& integer) {
  return integer.is(Kind::big_integer) ? integer.as_big() : BigInt(integer.as_integer());
}

double to_double(const Value& number) {
  if (number.is(Kind::real)) return number.as_real();
  if (number.is(Kind::big_integer)) return number.as_big().to_double();
  return static_cast<double>(number.as_integer());
}

Value calculate(Heap& heap, BinaryOp op, const Value& a, const Value& b) {
  if (a.is(Kind::real) || b.is(Kind::real)) {
    return calculate_reals(op, to_finite_double(a), to_finite_double(b));
  }
  if (op == BinaryOp::divide) return divide_integers(a, b);
  if (op == BinaryOp::power) return power_of_integers(heap, a, b);
  if (a.is_small_integer() && b.is_small_integer()) {
    const auto result = calculate_small(op, a.as_integer(), b.as_integer());
    if (result) return Value::integer(*result);
  }
  return calculate_big(heap, op, to_big(a), to_big(b));
}

Value negate(Heap& heap, const Value& number) {
  if (number.is(Kind::real)) return Value::real(-number.as_real());
  return calculate(heap, BinaryOp::subtract, Value::integer(0), number);
}

std::partial_ordering compare_numbers(const Value& a, const Value& b) {
  if (a.is_small_integer() && b.is_small_integer()) return a.as_integer() <=> b.as_integer();
  if (a.is(Kind::real) && b.is(Kind::real)) return a.as_real() <=> b.as_real();
  if (b.is(Kind::real)) return compare_integer_to_real(a, b.as_real());
  if (a.is(Kind::real)) return 0 <=> compare_integer_to_real(b, a.as_real());
  return to_big(a) <=> to_big(b);
}

std::string float_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string_view shortest(buffer, static_cast<size_t>(end - buffer));
  const size_t e = shortest.find('e');
  const int exponent = std::atoi(std::string(shortest.substr(e + 1)).c_str());
  if (exponent < -4 || exponent >= 16) return std::string(shortest);
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  std::string text(buffer, fixed.ptr);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string number_repr(const Value& number) {
  if (number.is(Kind::real)) return float_repr(number.as_real());
  if (number.is(Kind::big_integer)) return number.as_big().to_string();
  return std::to_string(number.as_integer());
}

std::optional<BigInt> parse_int(std::string_view text, int base) {
  text = strip_spaces(text);
  bool is_negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    is_negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const auto takes_prefix = [&](char letter, int prefix_base) {
    if (text.size() < 2 || text[0] != '0' || (text[1] | 0x20) != letter) return false;
    if (base != 0 && base != prefix_base) return false;
    base = prefix_base;
    text.remove_prefix(2);
    if (!text.empty() && text[0] == '_') text.remove_prefix(1);
    return true;
  };
  const bool has_prefix = takes_prefix('x', 16) || takes_prefix('o', 8) || takes_prefix('b', 2);
  const auto digits = without_underscores(text);
  if (!digits) return std::nullopt;
  if (base == 0) {
    base = 10;
    // "010" is no number where the prefix decides.
    const bool is_zero = digits->find_first_not_of('0') == std::string::npos;
    if (!has_prefix && digits->size() > 1 && (*digits)[0] == '0' && !is_zero) return std::nullopt;
  }
  auto value = BigInt::parse(*digits, static_cast<uint32_t>(base));
  if (value && is_negative) value = -*value;
  return value;
}

std::optional<double> parse_float(std::string_view text) {
  const auto cleaned = without_underscores(strip_spaces(text));
  if (!cleaned || cleaned->empty()) return std::nullopt;
  std::string lower = *cleaned;
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  std::string_view rest = lower;
  const bool is_negative = rest[0] == '-';
  if (is_negative || rest[0] == '+') rest.remove_prefix(1);
  double value = 0;
  if (rest == "inf" || rest == "infinity") {
    value = std::numeric_limits<double>::infinity();
  } else if (rest == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (rest.empty() || !(rest[0] == '.' || (rest[0] >= '0' && rest[0] <= '9'))) {
      return std::nullopt;
    }
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (end != rest.data() + rest.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range) {
      value = std::strtod(std::string(rest).c_str(), nullptr);  // zero or infinite
    } else if (error != std::errc()) {
      return std::nullopt;
    }
  }
  return is_negative ? -value : value;
}

Value truncate(Heap& heap, double value) {
  if (std::isnan(value)) fail(ErrorCode::bad_input, "cannot convert float NaN to integer");
  if (std::isinf(value)) fail(ErrorCode::bad_input, "cannot convert float infinity to integer");
  return make_integer(heap, BigInt::from_double(value));
}

double round_to(double value, int64_t digits) {
  if (!std::isfinite(value) || digits > 323) return value;
  if (digits < -308) return std::copysign(0.0, value);
  // Decimal digits of the exact value, rounded half to even, then read back.
  char buffer[700];
  if (digits >= 0) {
    std::snprintf(buffer, sizeof buffer, "%.*f", static_cast<int>(digits), value);
    return std::strtod(buffer, nullptr);
  }
  // printf has no negative precision: round the integer digits by hand, looking at all of them.
  const BigInt unit = BigInt(10).power(static_cast<uint64_t>(-digits));
  const BigInt whole = BigInt::from_double(std::abs(value));
  const bool has_fraction = std::abs(value) != std::trunc(std::abs(value));
  BigInt::Division division = whole.divide(unit);
  const auto half = division.remainder + division.remainder <=> unit;
  const bool up =
      half == std::strong_ordering::greater ||
      (half == std::strong_ordering::equal && (has_fraction || division.quotient.is_odd()));
  if (up) division.quotient = division.quotient + BigInt(1);
  return std::copysign((division.quotient * unit).to_double(), value);
}

}  // namespace arion::jinja
