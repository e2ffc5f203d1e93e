// Python's int and float: exact integers, shortest spelling of floats, comparison across both.
#pragma once
#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "jinja/value.h"

namespace arion::jinja {

enum class BinaryOp : uint8_t { add, subtract, multiply, divide, floor_divide, modulo, power };

std::string_view symbol(BinaryOp op);

// `a` and `b` are numbers. Throws Error as Python does (division by zero, too large).
Value calculate(Heap& heap, BinaryOp op, const Value& a, const Value& b);
Value negate(Heap& heap, const Value& number);

// Exact, unordered with NaN.
std::partial_ordering compare_numbers(const Value& a, const Value& b);
double to_double(const Value& number);
BigInt to_big(const Value& integer);

// repr(): "1.0", "1e-07", "inf".
std::string float_repr(double value);
// int or float as str() shows it; booleans as 0 and 1.
std::string number_repr(const Value& number);

// What int(text, base) and float(text) accept; nothing where they raise ValueError. Base 0 looks at
// the prefix.
std::optional<BigInt> parse_int(std::string_view text, int base);
std::optional<double> parse_float(std::string_view text);

// int(value): floats are cut. Throws Error for infinities and NaN.
Value truncate(Heap& heap, double value);
// round(value, digits) of a float, half to even on the exact value.
double round_to(double value, int64_t digits);

}  // namespace arion::jinja
