// Refusing a parameter with a message that names it, its value and what is allowed.
#pragma once
#include <string_view>

#include "base/error.h"

namespace arion {

// Throws Error{bad_input}; NaN is never in range.
template <typename T>
void check_range(std::string_view name, T value, T low, T high) {
  if (value >= low && value <= high) return;
  fail(ErrorCode::bad_input, "{} is {}, expected a number from {} to {}", name, value, low, high);
}

// For a whole number with the meaning "all" at -1.
inline void check_last_n(std::string_view name, int value) {
  if (value >= -1) return;
  fail(ErrorCode::bad_input, "{} is {}, expected 0 or more, or -1 for all tokens", name, value);
}

}  // namespace arion
