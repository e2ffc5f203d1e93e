// Format specifications: [[fill]align][sign][#][0][width][grouping][.precision][type].
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/format.h"
#include "jinja/operators.h"
#include "jinja/text_ops.h"

namespace arion::jinja {
namespace {

// Precisions that need no buffer beyond what a double has digits for.
constexpr int kMaxPrecision = 400;
constexpr size_t kMaxWidth = size_t{1} << 24;

bool is_align(char c) {
  return c == '<' || c == '>' || c == '^' || c == '=';
}

class SpecParser {
 public:
  explicit SpecParser(std::string_view text) : rest_(text) {}

  FormatSpec parse() {
    FormatSpec spec;
    parse_align(spec);
    if (const char sign = take_any("+- ")) spec.sign = sign;
    take_any("z");
    spec.alternate = take_any("#") != 0;
    if (!rest_.empty() && rest_[0] == '0' && spec.align == 0) {
      spec.fill = "0";
      spec.align = '=';
      rest_.remove_prefix(1);
    }
    spec.width = parse_number("width");
    spec.grouping = take_any(",_");
    if (take_any(".")) {
      if (rest_.empty() || rest_[0] < '0' || rest_[0] > '9') {
        fail(ErrorCode::bad_input, "Format specifier missing precision");
      }
      spec.precision = static_cast<int>(parse_number("precision"));
    }
    if (rest_.size() > 1) fail(ErrorCode::bad_input, "Invalid format specifier");
    if (!rest_.empty()) spec.type = rest_[0];
    return spec;
  }

 private:
  void parse_align(FormatSpec& spec) {
    if (rest_.empty()) return;
    const size_t length = decode_utf8(rest_).length;
    if (rest_.size() > length && is_align(rest_[length])) {
      spec.fill = rest_.substr(0, length);
      spec.align = rest_[length];
      rest_.remove_prefix(length + 1);
    } else {
      spec.align = take_any("<>^=");
    }
  }

  char take_any(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_[0]) == std::string_view::npos) return 0;
    const char taken = rest_[0];
    rest_.remove_prefix(1);
    return taken;
  }

  size_t parse_number(std::string_view what) {
    size_t number = 0;
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') {
      number = number * 10 + static_cast<size_t>(rest_[0] - '0');
      if (number > kMaxWidth) fail(ErrorCode::bad_input, "{} of a format is too large", what);
      rest_.remove_prefix(1);
    }
    return number;
  }

  std::string_view rest_;
};

// Digits with separators every `group` from the right; `width` is filled with zeros first.
std::string group_digits(std::string digits, char separator, size_t group) {
  for (size_t at = digits.size(); at > group;) {
    at -= group;
    digits.insert(at, 1, separator);
  }
  return digits;
}

struct NumberParts {
  std::string sign, prefix, digits, rest;  // rest: fraction, exponent, percent sign
};

Text assemble(Heap& heap, const NumberParts& number, const FormatSpec& spec, size_t group) {
  std::string digits = number.digits;
  const size_t around = number.sign.size() + number.prefix.size() + number.rest.size();
  if (spec.grouping != 0) {
    if (spec.align == '=' && spec.fill == "0") {
      // Zeros are grouped like digits.
      while (group_digits(digits, spec.grouping, group).size() + around < spec.width) {
        digits.insert(0, 1, '0');
      }
    }
    digits = group_digits(std::move(digits), spec.grouping, group);
  }
  const std::string body = digits + number.rest;
  const std::string head = number.sign + number.prefix;
  if (spec.align != '=') {
    return pad(heap, Text(head + body), spec.width, spec.align != 0 ? spec.align : '>', spec.fill);
  }
  const size_t width = spec.width > head.size() ? spec.width - head.size() : 0;
  Text result(head);
  result.append(pad(heap, Text(body), width, '>', spec.fill));
  return result;
}

std::string sign_text(bool is_negative, char sign) {
  if (is_negative) return "-";
  return sign == '-' ? "" : std::string(1, sign);
}

[[noreturn]] void unknown_code(char type, std::string_view type_name) {
  fail(ErrorCode::bad_input, "Unknown format code '{}' for object of type '{}'", type, type_name);
}

Text format_integer(Heap& heap, const Value& value, const FormatSpec& spec) {
  const BigInt number = to_big(value);
  if (spec.precision >= 0) {
    fail(ErrorCode::bad_input, "Precision not allowed in integer format specifier");
  }
  if (spec.type == 'c') {
    const auto code = number.to_int64();
    if (!code || *code < 0 || *code > 0x10FFFF) {
      fail(ErrorCode::bad_input, "%c arg not in range(0x110000)");
    }
    std::string character;
    append_utf8(character, static_cast<char32_t>(*code));
    return pad(heap, Text(character), spec.width,
               spec.align == '=' || spec.align == 0 ? '<' : spec.align, spec.fill);
  }
  uint32_t base = 10;
  std::string_view prefix;
  switch (spec.type) {
    case 'b':
      base = 2;
      prefix = "0b";
      break;
    case 'o':
      base = 8;
      prefix = "0o";
      break;
    case 'x':
    case 'X':
      base = 16;
      prefix = spec.type == 'x' ? "0x" : "0X";
      break;
    default:
      break;
  }
  const BigInt magnitude = number.is_negative() ? -number : number;
  NumberParts parts{.sign = sign_text(number.is_negative(), spec.sign),
                    .prefix = std::string(spec.alternate ? prefix : ""),
                    .digits = magnitude.to_string(base)};
  if (spec.type == 'X') {
    std::ranges::transform(parts.digits, parts.digits.begin(),
                           [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
  }
  return assemble(heap, parts, spec, base == 10 ? 3 : 4);
}

// No type: like repr(), or with a precision like g but with a digit behind the point.
std::string format_general(double value, int precision) {
  if (precision < 0) return float_repr(value);
  precision = std::max(precision, 1);
  const std::string scientific = format_real(value, 'e', precision - 1, false);
  const size_t e = scientific.find('e');
  const int exponent = std::atoi(scientific.c_str() + e + 1);
  std::string text = format_real(value, 'g', precision, false);
  if (exponent >= precision - 1 && exponent >= -4 && text.find('e') == std::string::npos) {
    std::string mantissa = scientific.substr(0, e);
    if (mantissa.find('.') != std::string::npos) {
      mantissa.erase(mantissa.find_last_not_of('0') + 1);
      if (mantissa.back() == '.') mantissa.pop_back();
    }
    return mantissa + scientific.substr(e);
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

Text format_float(Heap& heap, double value, const FormatSpec& spec) {
  std::string text;
  if (!std::isfinite(value)) {
    text = std::isnan(value) ? "nan" : "inf";
    if (spec.type == 'E' || spec.type == 'F' || spec.type == 'G') {
      text = std::isnan(value) ? "NAN" : "INF";
    }
    if (spec.type == '%') text += '%';
  } else if (spec.type == 0) {
    text = format_general(std::abs(value), spec.precision);
  } else {
    const char type = spec.type == 'n' ? 'g' : spec.type;
    text = format_real(std::abs(value), type, spec.precision, spec.alternate);
  }
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return assemble(heap,
                  {.sign = sign_text(std::signbit(value) && !std::isnan(value), spec.sign),
                   .digits = text.substr(0, digits),
                   .rest = text.substr(digits)},
                  spec, 3);
}

Text format_text(Heap& heap, const Value& value, const FormatSpec& spec) {
  if (spec.type != 0 && spec.type != 's') unknown_code(spec.type, type_name(value));
  if (spec.align == '=' && spec.fill != "0") {
    fail(ErrorCode::bad_input, "'=' alignment not allowed in string format specifier");
  }
  if (spec.sign != '-') fail(ErrorCode::bad_input, "Sign not allowed in string format specifier");
  if (spec.alternate) {
    fail(ErrorCode::bad_input, "Alternate form (#) not allowed in string format specifier");
  }
  if (spec.grouping != 0) fail(ErrorCode::bad_input, "Cannot specify ',' with 's'.");
  Text text = str_text(heap, value);
  if (spec.precision >= 0) text = first_characters(text, static_cast<size_t>(spec.precision));
  const char align = spec.align == 0 || spec.align == '=' ? '<' : spec.align;
  return pad(heap, text, spec.width, align, spec.fill);
}

}  // namespace

FormatSpec parse_format_spec(std::string_view spec) {
  return SpecParser(spec).parse();
}

Text apply_format_spec(Heap& heap, const Value& value, const FormatSpec& spec) {
  constexpr std::string_view kIntegerTypes = "bcdoxXn", kRealTypes = "eEfFgG%n";
  const bool is_typed = spec.type != 0;
  if (value.is_string()) return format_text(heap, value, spec);
  if (value.is_integer()) {
    if (!is_typed || kIntegerTypes.find(spec.type) != std::string_view::npos) {
      return format_integer(heap, value, spec);
    }
    if (kRealTypes.find(spec.type) == std::string_view::npos) {
      unknown_code(spec.type, type_name(value));
    }
    return format_float(heap, to_double(value), spec);
  }
  if (value.is(Kind::real)) {
    if (is_typed && kRealTypes.find(spec.type) == std::string_view::npos) {
      unknown_code(spec.type, "float");
    }
    return format_float(heap, value.as_real(), spec);
  }
  fail(ErrorCode::bad_input, "unsupported format string passed to {}.__format__", type_name(value));
}

std::string format_real(double value, char type, int precision, bool alternate) {
  if (precision > kMaxPrecision) fail(ErrorCode::bad_input, "precision too big");
  if (precision < 0) precision = 6;
  if (!std::isfinite(value)) {
    const bool is_upper = type == 'E' || type == 'F' || type == 'G';
    if (std::isnan(value)) return is_upper ? "NAN" : "nan";
    return std::string(value < 0 ? "-" : "") + (is_upper ? "INF" : "inf");
  }
  const bool is_percent = type == '%';
  const char format[] = {'%', alternate ? '#' : '-', '.', '*', is_percent ? 'f' : type, 0};
  char buffer[kMaxPrecision + 320];
  const int length =
      std::snprintf(buffer, sizeof buffer, format, precision, is_percent ? value * 100 : value);
  return std::string(buffer, static_cast<size_t>(length)) + (is_percent ? "%" : "");
}

Text pad(Heap& heap, const Text& text, size_t width, char align, std::string_view fill) {
  const size_t length = count_characters(text.bytes());
  if (width <= length) return text;
  const size_t missing = width - length;
  heap.charge(missing * fill.size());
  const size_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
  std::string padding;
  for (size_t i = 0; i < before; ++i) padding += fill;
  Text result(padding);
  result.append(text);
  padding.clear();
  for (size_t i = before; i < missing; ++i) padding += fill;
  result.append(padding);
  return result;
}

Text first_characters(const Text& text, size_t count) {
  size_t end = 0;
  while (count-- > 0 && end < text.size()) end += decode_utf8(text.bytes().substr(end)).length;
  return text.substr(0, end);
}

Text to_ascii(const Text& repr) {
  Text out;
  for (size_t at = 0; at < repr.size();) {
    const Utf8Char c = decode_utf8(repr.bytes().substr(at));
    const uint32_t code = c.code_point;
    if (code < 0x80) {
      out.append(repr, at, at + 1);
    } else {
      out.append(code < 0x100     ? fmt::format("\\x{:02x}", code)
                 : code < 0x10000 ? fmt::format("\\u{:04x}", code)
                                  : fmt::format("\\U{:08x}", code),
                 repr.origin_at(at));
    }
    at += c.length;
  }
  return out;
}

}  // namespace arion::jinja
