// Filters on numbers and single values.
#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "jinja/access.h"
#include "jinja/arguments.h"
#include "jinja/filters.h"
#include "jinja/operators.h"

namespace arion::jinja {
namespace {

// float(value); nothing where it raises TypeError or ValueError.
std::optional<double> find_real(const Value& value) {
  if (value.is_undefined()) fail_undefined(value);
  if (value.is_number()) return to_double(value);
  return value.is_string() ? parse_float(value.bytes()) : std::nullopt;
}

Value round_integer(Heap& heap, const Value& value, int64_t digits) {
  if (digits >= 0) return apply_sign(heap, '+', value);
  if (digits < -4000) return Value::integer(0);
  const BigInt number = to_big(value);
  const BigInt unit = BigInt(10).power(static_cast<uint64_t>(-digits));
  BigInt::Division division = number.divide(unit);
  const auto half = division.remainder + division.remainder <=> unit;
  const bool is_up = half > 0 || (half == 0 && division.quotient.is_odd());
  if (is_up) division.quotient = division.quotient + BigInt(1);
  return make_integer(heap, division.quotient * unit);
}

void spend_for_digits(Runtime& runtime, const Value& subject) {
  if (subject.is_string()) runtime.heap().spend(subject.bytes().size());
}

}  // namespace

Value filter_abs(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  Bound("abs", arguments, {});
  if (subject.is_undefined()) fail_undefined(subject);
  if (!subject.is_number()) {
    fail(ErrorCode::bad_input, "bad operand type for abs(): '{}'", type_name(subject));
  }
  if (subject.is(Kind::real)) return Value::real(std::abs(subject.as_real()));
  const bool is_negative = compare_numbers(subject, Value::integer(0)) < 0;
  return apply_sign(runtime.heap(), is_negative ? '-' : '+', subject);
}

Value filter_attr(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("attr", arguments, {"name"}, 1);
  if (subject.is_undefined()) fail_undefined(subject);
  const auto value = find_type_attribute(runtime, subject, bound.text(0).bytes());
  return value ? *value : make_undefined(runtime.heap(), subject, bound[0]);
}

Value filter_default(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("default", arguments, {"default_value", "boolean"});
  const bool replaces = subject.is_undefined() || (bound.flag(1, false) && !truth(subject));
  if (!replaces) return subject;
  return bound.has(0) ? bound[0] : make_string(runtime.heap(), "");
}

Value filter_filesizeformat(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("filesizeformat", arguments, {"binary"});
  const auto size = find_real(subject);
  if (!size) fail(ErrorCode::bad_input, "could not convert to float: {}", type_name(subject));
  const bool is_binary = bound.flag(0, false);
  const double base = is_binary ? 1024 : 1000;
  if (*size == 1) return make_string(runtime.heap(), "1 Byte");
  if (*size < base) {
    const Value whole = truncate(runtime.heap(), *size);
    return make_string(runtime.heap(), number_repr(whole) + " Bytes");
  }
  double unit = base * base;
  size_t prefix = 0;
  for (; prefix < 7 && !(*size < unit); ++prefix) unit *= base;
  return make_string(runtime.heap(), fmt::format("{:.1f} {}{}B", base * *size / unit,
                                                 (is_binary ? "KMGTPEZY" : "kMGTPEZY")[prefix],
                                                 is_binary ? "i" : ""));
}

Value filter_float(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("float", arguments, {"default"});
  spend_for_digits(runtime, subject);
  const auto value = find_real(subject);
  return value ? Value::real(*value) : bound.get(0, Value::real(0));
}

Value filter_int(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("int", arguments, {"default", "base"});
  Heap& heap = runtime.heap();
  spend_for_digits(runtime, subject);
  if (subject.is_integer()) return apply_sign(heap, '+', subject);
  if (subject.is_string()) {
    const int64_t base = bound.integer(1).value_or(10);
    if (base == 0 || (base >= 2 && base <= 36)) {
      const auto value = parse_int(subject.bytes(), static_cast<int>(base));
      if (value) return make_integer(heap, *value);
    }
  }
  const auto real = find_real(subject);
  const bool is_overflow = real && std::isinf(*real) && !subject.is_string();
  if (real && (std::isfinite(*real) || is_overflow)) return truncate(heap, *real);
  return bound.get(0, Value::integer(0));
}

Value filter_length(Runtime&, const Value& subject, const Arguments& arguments) {
  Bound("length", arguments, {});
  return Value::integer(length(subject));
}

Value filter_round(Runtime& runtime, const Value& subject, const Arguments& arguments) {
  const Bound bound("round", arguments, {"precision", "method"});
  Heap& heap = runtime.heap();
  const std::string_view method = bound.has(1) ? bound.text(1).bytes() : "common";
  if (method != "common" && method != "ceil" && method != "floor") {
    fail(ErrorCode::bad_input, "method must be common, ceil or floor");
  }
  const int64_t precision = bound.has(0) ? to_index(bound[0], "precision") : 0;
  if (subject.is_undefined()) fail_undefined(subject);
  if (!subject.is_number()) {
    fail(ErrorCode::bad_input, "type {} doesn't define __round__ method", type_name(subject));
  }
  if (method == "common") {
    return subject.is(Kind::real) ? Value::real(round_to(subject.as_real(), precision))
                                  : round_integer(heap, subject, precision);
  }
  const Value scale =
      calculate(heap, BinaryOp::power, Value::integer(10), Value::integer(precision));
  Value scaled = calculate(heap, BinaryOp::multiply, subject, scale);
  if (scaled.is(Kind::real)) {
    const double value = scaled.as_real();
    scaled = truncate(heap, method == "ceil" ? std::ceil(value) : std::floor(value));
  }
  return calculate(heap, BinaryOp::divide, scaled, scale);
}

}  // namespace arion::jinja
