// The lexer of Jinja2 3.1 as transformers configures it: trim_blocks, lstrip_blocks, no line
// statements, the last newline of a template dropped.
#include "jinja/lexer.h"

#include <algorithm>

#include "base/utf8.h"
#include "jinja/python_unicode.h"
#include "jinja/string_literal.h"
#include "jinja/text_ops.h"

namespace arion::jinja {
namespace {

std::string normalize_newlines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      text += source[i];
    } else if (i + 1 == source.size() || source[i + 1] != '\n') {
      text += '\n';
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize_newlines(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) lex_root();
    add(TokenKind::end, "", at_);
    return std::move(tokens_);
  }

 private:
  // "{%", "{{" or "{#", with its white space control.
  struct Opening {
    size_t begin;
    char kind;  // % { # or r: a raw block
    char sign;  // - + or 0
    size_t end;
  };

  std::string_view rest(size_t at) const { return std::string_view(source_).substr(at); }
  char char_at(size_t at) const { return at < source_.size() ? source_[at] : '\0'; }

  Position position(size_t offset) {
    for (; line_offset_ < offset; ++line_offset_) {
      if (source_[line_offset_] != '\n') continue;
      ++line_;
      line_begin_ = line_offset_ + 1;
    }
    return {line_, static_cast<uint32_t>(offset - line_begin_ + 1)};
  }

  void add(TokenKind kind, std::string text, size_t offset) {
    tokens_.push_back({kind, std::move(text), position(offset)});
  }

  size_t skip_spaces(size_t at) const {
    while (at < source_.size()) {
      const Utf8Char c = decode_utf8(rest(at));
      if (!is_space(c.code_point)) break;
      at += c.length;
    }
    return at;
  }

  char sign_at(size_t at) const {
    const char c = char_at(at);
    return c == '-' || c == '+' ? c : '\0';
  }

  Opening find_opening() const {
    for (size_t at = source_.find('{', at_); at != std::string::npos;
         at = source_.find('{', at + 1)) {
      const char kind = char_at(at + 1);
      if (kind != '%' && kind != '{' && kind != '#') continue;
      Opening opening{at, kind, sign_at(at + 2), at + 2};
      if (opening.sign != 0) ++opening.end;
      if (kind == '%') look_for_raw(opening);
      return opening;
    }
    return {source_.size(), 0, 0, source_.size()};
  }

  // "{% raw %}" is one token.
  void look_for_raw(Opening& opening) const {
    size_t at = skip_spaces(opening.end);
    if (!rest(at).starts_with("raw")) return;
    at = skip_spaces(at + 3);
    if (rest(at).starts_with("-%}")) {
      at = skip_spaces(at + 3);
    } else if (rest(at).starts_with("%}")) {
      at += 2;
    } else {
      return;
    }
    opening.kind = 'r';
    opening.end = at;
  }

  // Text up to a tag, without the white space that the tag takes away.
  void add_data(size_t end, char kind, char sign) {
    std::string_view text = rest(at_).substr(0, end - at_);
    if (sign == '-') {
      while (!text.empty()) {
        const size_t last = previous(text, text.size());
        if (!is_space(decode_utf8(text.substr(last)).code_point)) break;
        text = text.substr(0, last);
      }
    } else if (sign != '+' && kind != '{') {
      const size_t newline = text.rfind('\n');
      const size_t line = newline == std::string_view::npos ? 0 : newline + 1;
      if ((line > 0 || starts_line_) && skip_spaces(at_ + line) >= end) {
        text = text.substr(0, line);
      }
    }
    if (!text.empty()) add(TokenKind::data, std::string(text), at_);
  }

  void move_to(size_t at) {
    starts_line_ = at > 0 && source_[at - 1] == '\n';
    at_ = at;
  }

  void lex_root() {
    const Opening opening = find_opening();
    add_data(opening.begin, opening.kind, opening.kind == 0 ? '+' : opening.sign);
    move_to(opening.end);
    switch (opening.kind) {
      case '#':
        return lex_comment(opening.begin);
      case 'r':
        return lex_raw(opening.begin);
      case '{':
        add(TokenKind::variable_begin, "", opening.begin);
        return lex_tag(TokenKind::variable_end);
      case '%':
        add(TokenKind::block_begin, "", opening.begin);
        return lex_tag(TokenKind::block_end);
      default:
        return;
    }
  }

  // Behind "%}" or "#}": the newline that trim_blocks takes, all white space after '-'.
  size_t after_closing(size_t at, char sign) const {
    if (sign == '-') return skip_spaces(at);
    return sign != '+' && char_at(at) == '\n' ? at + 1 : at;
  }

  void lex_comment(size_t begin) {
    const size_t close = source_.find("#}", at_);
    if (close == std::string::npos) fail_at(position(begin), "Missing end of comment tag");
    const char sign = close > at_ ? sign_at(close - 1) : '\0';
    move_to(after_closing(close + 2, sign));
  }

  void lex_raw(size_t begin) {
    for (size_t open = source_.find("{%", at_); open != std::string::npos;
         open = source_.find("{%", open + 1)) {
      const char sign = sign_at(open + 2);
      size_t at = skip_spaces(open + (sign != 0 ? 3 : 2));
      if (!rest(at).starts_with("endraw")) continue;
      at = skip_spaces(at + 6);
      const char end_sign = sign_at(at);
      if (end_sign != 0) ++at;
      if (!rest(at).starts_with("%}")) continue;
      add_data(open, '%', sign);
      move_to(after_closing(at + 2, end_sign));
      return;
    }
    fail_at(position(begin), "Missing end of raw directive");
  }

  // True where the tag ends here.
  bool lex_closing(TokenKind closing) {
    if (!balance_.empty()) return false;
    const bool is_block = closing == TokenKind::block_end;
    const size_t begin = at_;
    char sign = sign_at(at_);
    if (sign == '+' && !is_block) sign = 0;
    const size_t end = at_ + (sign != 0 ? 1 : 0);
    if (!rest(end).starts_with(is_block ? "%}" : "}}")) return false;
    if (is_block) {
      move_to(after_closing(end + 2, sign));
    } else {
      move_to(sign == '-' ? skip_spaces(end + 2) : end + 2);
    }
    add(closing, "", begin);
    return true;
  }

  void lex_tag(TokenKind closing) {
    for (;;) {
      move_to(skip_spaces(at_));
      if (at_ >= source_.size()) {
        balance_.clear();
        return;  // the parser says what is missing
      }
      if (lex_closing(closing)) return;
      const char c = source_[at_];
      if (is_digit(c)) {
        lex_number();
      } else if (is_name_char(at_)) {
        lex_name();
      } else if (c == '\'' || c == '"') {
        lex_string(c);
      } else {
        lex_symbol();
      }
    }
  }

  bool is_name_char(size_t at) const {
    return char_at(at) == '_' ||
           (char_flags(decode_utf8(rest(at)).code_point) & kAlphanumeric) != 0;
  }

  void lex_name() {
    const size_t begin = at_;
    while (at_ < source_.size() && is_name_char(at_)) at_ += decode_utf8(rest(at_)).length;
    if (source_[begin] != '_' && !(char_flags(decode_utf8(rest(begin)).code_point) & kAlpha)) {
      fail_at(position(begin), "Invalid character in identifier");
    }
    add(TokenKind::name, source_.substr(begin, at_ - begin), begin);
  }

  // Digits with single underscores between them; the offset behind.
  template <typename IsDigit>
  size_t digits_end(size_t at, IsDigit is_digit_of_base) const {
    if (!is_digit_of_base(char_at(at))) return at;
    while (is_digit_of_base(char_at(at)) ||
           (char_at(at) == '_' && is_digit_of_base(char_at(at + 1)))) {
      ++at;
    }
    return at;
  }

  // The offset behind a float, or its begin where there is none.
  size_t float_end(size_t begin) const {
    if (begin > 0 && source_[begin - 1] == '.') return begin;
    size_t at = digits_end(begin, is_digit);
    bool is_float = false;
    if (char_at(at) == '.' && is_digit(char_at(at + 1))) {
      at = digits_end(at + 1, is_digit);
      is_float = true;
    }
    if ((char_at(at) | 0x20) == 'e') {
      const size_t exponent = at + (sign_at(at + 1) != 0 ? 2 : 1);
      const size_t end = digits_end(exponent, is_digit);
      if (end > exponent) return end;
    }
    return is_float ? at : begin;
  }

  size_t integer_end(size_t begin) const {
    if (source_[begin] != '0') return digits_end(begin, is_digit);
    // An underscore may stand right behind the prefix.
    const size_t first = begin + (char_at(begin + 2) == '_' ? 3 : 2);
    size_t end = first;
    switch (char_at(begin + 1) | 0x20) {
      case 'x':
        end = digits_end(
            first, [](char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); });
        break;
      case 'o':
        end = digits_end(first, [](char c) { return c >= '0' && c <= '7'; });
        break;
      case 'b':
        end = digits_end(first, [](char c) { return c == '0' || c == '1'; });
        break;
      default:
        break;
    }
    return end > first ? end : digits_end(begin, [](char c) { return c == '0'; });
  }

  void lex_number() {
    const size_t begin = at_;
    const size_t real = float_end(begin);
    at_ = real > begin ? real : integer_end(begin);
    std::string spelling = source_.substr(begin, at_ - begin);
    std::erase(spelling, '_');
    add(real > begin ? TokenKind::real : TokenKind::integer, std::move(spelling), begin);
  }

  void lex_string(char quote) {
    const size_t begin = at_;
    size_t at = begin + 1;
    while (at < source_.size() && source_[at] != quote) at += source_[at] == '\\' ? 2 : 1;
    if (at >= source_.size()) {
      fail_at(position(begin), "unexpected char {}", quote == '"' ? "'\"'" : "\"'\"");
    }
    const Position where = position(begin);
    add(TokenKind::string, unescape(rest(begin + 1).substr(0, at - begin - 1), where), begin);
    at_ = at + 1;
  }

  void lex_symbol() {
    constexpr std::string_view kDouble[] = {"//", "**", "==", "!=", ">=", "<="};
    constexpr std::string_view kSingle = "+-/*%~[](){}><=.:|,;";
    size_t length = 1;
    for (const std::string_view symbol : kDouble) {
      if (rest(at_).starts_with(symbol)) length = 2;
    }
    if (length == 1 && kSingle.find(source_[at_]) == std::string_view::npos) {
      fail_at(position(at_), "unexpected char '{}'",
              rest(at_).substr(0, decode_utf8(rest(at_)).length));
    }
    std::string symbol = source_.substr(at_, length);
    if (length == 1) check_balance(symbol[0]);
    add(TokenKind::symbol, std::move(symbol), at_);
    at_ += length;
  }

  void check_balance(char c) {
    if (c == '(') balance_ += ')';
    if (c == '[') balance_ += ']';
    if (c == '{') balance_ += '}';
    if (c != ')' && c != ']' && c != '}') return;
    if (balance_.empty()) fail_at(position(at_), "unexpected '{}'", c);
    const char expected = balance_.back();
    balance_.pop_back();
    if (c != expected) fail_at(position(at_), "unexpected '{}', expected '{}'", c, expected);
  }

  const std::string source_;
  size_t at_ = 0;
  bool starts_line_ = true;  // what came before ends with a newline
  std::string balance_;      // closing brackets that are due
  std::vector<Token> tokens_;
  // The line that holds line_offset_; offsets are asked for in ascending order, nearly.
  size_t line_offset_ = 0, line_begin_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace arion::jinja
