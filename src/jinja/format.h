// Python's three ways to format: "%s" % x, "{}".format(x), and format specifications.
#pragma once
#include <string>
#include <string_view>

#include "jinja/value.h"

namespace arion::jinja {

// `format % arguments`; `format` is a string.
Value format_percent(Heap& heap, const Value& format, const Value& arguments);

// `format.format(...)`.
Value format_braces(Runtime& runtime, const Value& format, const Arguments& arguments);

// What stands behind the colon of a replacement field.
struct FormatSpec {
  std::string fill = " ";  // one character
  char align = 0;          // < > ^ =, 0: by type
  char sign = '-';         // - + space
  bool alternate = false;
  char grouping = 0;  // , _
  size_t width = 0;
  int precision = -1;
  char type = 0;
};

// Throws Error for what Python refuses.
FormatSpec parse_format_spec(std::string_view spec);
Text apply_format_spec(Heap& heap, const Value& value, const FormatSpec& spec);

// A finite or infinite double by one of the types e E f F g G %.
std::string format_real(double value, char type, int precision, bool alternate);

// Widens to `width` characters; `align` is one of < > ^.
Text pad(Heap& heap, const Text& text, size_t width, char align, std::string_view fill);

// The first `count` characters of a text.
Text first_characters(const Text& text, size_t count);

// Replaces what is not ASCII in a repr() by escapes, as ascii() does.
Text to_ascii(const Text& repr);

}  // namespace arion::jinja
