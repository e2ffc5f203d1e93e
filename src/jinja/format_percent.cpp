// "%-5s" % values, as Python's str does it.
#include <fmt/format.h>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/format.h"
#include "jinja/operators.h"

namespace arion::jinja {
namespace {

class PercentFormatter {
 public:
  PercentFormatter(Heap& heap, const Value& format, const Value& arguments)
      : heap_(heap),
        format_(format.text()),
        arguments_(arguments),
        escapes_(format.as_string().is_markup) {}

  Text run() {
    const std::string_view bytes = format_.bytes();
    while (at_ < bytes.size()) {
      heap_.spend();
      const size_t percent = std::min(bytes.find('%', at_), bytes.size());
      out_.append(format_, at_, percent);
      at_ = percent + 1;
      if (percent < bytes.size()) convert();
    }
    // A list or mapping may be left unused.
    const bool may_be_unused = arguments_.is_dict() || arguments_.is(Kind::list) ||
                               arguments_.is(Kind::range) || arguments_.is(Kind::name_space);
    const bool has_rest = arguments_.is(Kind::tuple) ? used_ < arguments_.items().size()
                                                     : used_ == 0 && !may_be_unused;
    if (has_rest && !uses_mapping_) {
      fail(ErrorCode::bad_input, "not all arguments converted during string formatting");
    }
    return std::move(out_);
  }

 private:
  char peek() const { return at_ < format_.size() ? format_.bytes()[at_] : '\0'; }

  Value next_argument() {
    if (arguments_.is(Kind::tuple)) {
      if (used_ < arguments_.items().size()) return arguments_.items()[used_++];
    } else if (used_ == 0) {
      ++used_;
      return arguments_;
    }
    fail(ErrorCode::bad_input, "not enough arguments for format string");
  }

  // "(name)"
  std::optional<Value> named_argument() {
    if (peek() != '(') return std::nullopt;
    const size_t begin = ++at_;
    for (int depth = 1; depth > 0; ++at_) {
      if (at_ >= format_.size()) fail(ErrorCode::bad_input, "incomplete format key");
      if (peek() == '(') ++depth;
      if (peek() == ')') --depth;
    }
    if (!arguments_.is_dict()) fail(ErrorCode::bad_input, "format requires a mapping");
    uses_mapping_ = true;
    const std::string_view name = format_.bytes().substr(begin, at_ - 1 - begin);
    const Value* value = arguments_.as_dict().find(name);
    if (value == nullptr) fail(ErrorCode::bad_input, "no key '{}' for format", name);
    return *value;
  }

  int64_t number(std::string_view what) {
    constexpr int64_t kMost = 1 << 24;
    int64_t value = 0;
    if (peek() == '*') {
      ++at_;
      const Value given = next_argument();
      if (!given.is_integer()) fail(ErrorCode::bad_input, "* wants int");
      value = to_index(given, what);
    } else {
      for (; peek() >= '0' && peek() <= '9' && value <= kMost; ++at_) {
        value = value * 10 + (peek() - '0');
      }
    }
    if (value > kMost || value < -kMost) fail(ErrorCode::bad_input, "{} too big", what);
    return value;
  }

  void convert() {
    std::optional<Value> value = named_argument();
    FormatSpec spec;
    bool is_left = false, has_zeros = false;
    for (;; ++at_) {
      if (peek() == '-')
        is_left = true;
      else if (peek() == '+')
        spec.sign = '+';
      else if (peek() == ' ')
        spec.sign = spec.sign == '+' ? '+' : ' ';
      else if (peek() == '#')
        spec.alternate = true;
      else if (peek() == '0')
        has_zeros = true;
      else
        break;
    }
    const int64_t width = number("width");
    if (width < 0) is_left = true;
    spec.width = static_cast<size_t>(width < 0 ? -width : width);
    if (peek() == '.') {
      ++at_;
      spec.precision = static_cast<int>(std::max<int64_t>(number("precision"), 0));
    }
    if (peek() == 'h' || peek() == 'l' || peek() == 'L') ++at_;
    if (at_ >= format_.size()) fail(ErrorCode::bad_input, "incomplete format");
    const char type = peek();
    if (type == '%') {
      ++at_;
      return out_.append("%");
    }
    if (!value) value = next_argument();
    spec.align = is_left ? '<' : '>';
    append(*value, type, spec, has_zeros && !is_left);
    ++at_;
  }

  void append(const Value& value, char type, FormatSpec spec, bool has_zeros) {
    switch (type) {
      case 's':
        return append_text(escapes_ ? escape_unless_markup(heap_, value) : str_text(heap_, value),
                           spec);
      case 'r':
      case 'a': {
        const Text repr = repr_text(heap_, value);
        const Text shown = type == 'a' ? to_ascii(repr) : repr;
        return append_text(escapes_ ? escape_html(shown) : shown, spec);
      }
      case 'c':
        return append_character(value, spec);
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return append_integer(value, type, spec, has_zeros);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        if (value.is_undefined()) {
          fail(ErrorCode::bad_input, "{}", value.as_undefined().message());
        }
        if (!value.is_number()) {
          fail(ErrorCode::bad_input, "must be real number, not {}", type_name(value));
        }
        spec.type = type;
        return append_number(Value::real(to_double(value)), spec, has_zeros);
      default:
        break;
    }
    fail(ErrorCode::bad_input, "unsupported format character '{}' ({:#x}) at index {}",
         std::string(1, type), static_cast<uint32_t>(static_cast<uint8_t>(type)), at_);
  }

  void append_text(Text text, const FormatSpec& spec) {
    if (spec.precision >= 0) text = first_characters(text, static_cast<size_t>(spec.precision));
    out_.append(pad(heap_, text, spec.width, spec.align, " "));
  }

  void append_character(const Value& value, const FormatSpec& spec) {
    if (value.is_string() && value.as_string().length == 1) return append_text(value.text(), spec);
    if (!value.is_integer()) fail(ErrorCode::bad_input, "%c requires int or char");
    FormatSpec character = spec;
    character.type = 'c';
    character.precision = -1;
    out_.append(apply_format_spec(heap_, value, character));
  }

  void append_integer(const Value& value, char type, FormatSpec spec, bool has_zeros) {
    const bool is_decimal = type == 'd' || type == 'i' || type == 'u';
    Value number = value;
    if (is_decimal && value.is(Kind::real)) number = truncate(heap_, value.as_real());
    if (value.is_undefined()) fail(ErrorCode::bad_input, "{}", value.as_undefined().message());
    if (!number.is_integer()) {
      fail(ErrorCode::bad_input, "%{} format: {} is required, not {}", type,
           is_decimal ? "a real number" : "an integer", type_name(value));
    }
    spec.type = is_decimal ? 'd' : type;
    const int digits = spec.precision;
    spec.precision = -1;
    if (digits < 0) return append_number(number, spec, has_zeros);
    // A precision is a least number of digits.
    FormatSpec plain{.sign = spec.sign, .alternate = spec.alternate, .type = spec.type};
    const Text unpadded = apply_format_spec(heap_, number, plain);
    const std::string_view bytes = unpadded.bytes();
    size_t head = bytes.find_first_of("0123456789abcdefABCDEF");
    if (spec.alternate && !is_decimal) head += 2;
    const size_t count = bytes.size() - head;
    const size_t zeros = static_cast<size_t>(digits) > count ? digits - count : 0;
    heap_.charge(zeros);
    Text text(std::string(bytes.substr(0, head)) + std::string(zeros, '0'));
    text.append(bytes.substr(head));
    if (has_zeros && text.size() < spec.width) {
      text =
          Text(std::string(text.bytes().substr(0, head)) +
               std::string(spec.width - text.size(), '0') + std::string(text.bytes().substr(head)));
    }
    out_.append(pad(heap_, text, spec.width, spec.align, " "));
  }

  void append_number(const Value& number, FormatSpec spec, bool has_zeros) {
    if (has_zeros) {
      spec.fill = "0";
      spec.align = '=';
    }
    out_.append(apply_format_spec(heap_, number, spec));
  }

  Heap& heap_;
  const Text& format_;
  const Value& arguments_;
  const bool escapes_;  // of markup: values are escaped
  size_t at_ = 0;
  size_t used_ = 0;
  bool uses_mapping_ = false;
  Text out_;
};

}  // namespace

Value format_percent(Heap& heap, const Value& format, const Value& arguments) {
  Text result = PercentFormatter(heap, format, arguments).run();
  return format.as_string().is_markup ? make_markup(heap, std::move(result))
                                      : make_string(heap, std::move(result));
}

}  // namespace arion::jinja
