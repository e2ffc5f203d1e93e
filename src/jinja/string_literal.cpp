#include "jinja/string_literal.h"

#include "base/utf8.h"

namespace arion::jinja {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') return (c | 0x20) - 'a' + 10;
  return -1;
}

class Unescaper {
 public:
  Unescaper(std::string_view literal, Position at) : rest_(literal), at_(at) {}

  std::string run() {
    while (!rest_.empty()) {
      const size_t slash = std::min(rest_.find('\\'), rest_.size());
      out_ += rest_.substr(0, slash);
      rest_.remove_prefix(slash);
      if (!rest_.empty()) escape();
    }
    return std::move(out_);
  }

 private:
  void escape() {
    const char c = rest_[1];  // a literal never ends with a single backslash
    rest_.remove_prefix(2);
    switch (c) {
      case '\n':
        return;
      case 'a':
        return put('\a');
      case 'b':
        return put('\b');
      case 'f':
        return put('\f');
      case 'n':
        return put('\n');
      case 'r':
        return put('\r');
      case 't':
        return put('\t');
      case 'v':
        return put('\v');
      case '\\':
      case '\'':
      case '"':
        return put(c);
      case 'x':
        return hex(2, "\\xXX");
      case 'u':
        return hex(4, "\\uXXXX");
      case 'U':
        return hex(8, "\\UXXXXXXXX");
      case 'N':
        fail_at(at_, "characters by name (\\N) are not supported");
      default:
        if (c >= '0' && c <= '7') return octal(c);
        out_ += '\\';
        out_ += c;
    }
  }

  void put(char c) { out_ += c; }

  void hex(size_t count, std::string_view form) {
    char32_t code = 0;
    for (size_t i = 0; i < count; ++i) {
      const int digit = rest_.empty() ? -1 : hex_value(rest_[0]);
      if (digit < 0) fail_at(at_, "truncated {} escape", form);
      code = code << 4 | static_cast<char32_t>(digit);
      rest_.remove_prefix(1);
    }
    if (code > 0x10FFFF) fail_at(at_, "illegal Unicode character");
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    append_utf8(out_, is_surrogate ? kReplacement : code);
  }

  void octal(char first) {
    char32_t code = static_cast<char32_t>(first - '0');
    for (int i = 0; i < 2 && !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '7'; ++i) {
      code = code * 8 + static_cast<char32_t>(rest_[0] - '0');
      rest_.remove_prefix(1);
    }
    append_utf8(out_, code);
  }

  std::string_view rest_;
  const Position at_;
  std::string out_;
};

}  // namespace

std::string unescape(std::string_view literal, Position at) {
  return Unescaper(literal, at).run();
}

}  // namespace arion::jinja
