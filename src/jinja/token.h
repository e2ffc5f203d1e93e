// Tokens of a template.
#pragma once
#include <cstdint>
#include <string>

#include "base/error.h"

namespace arion::jinja {

struct Position {
  uint32_t line = 1, column = 1;  // the column counts bytes
};

enum class TokenKind : uint8_t {
  data,  // text between tags
  variable_begin,
  variable_end,
  block_begin,
  block_end,
  name,
  string,   // text: the value
  integer,  // text: the spelling without underscores
  real,     // likewise
  symbol,   // text: an operator or delimiter
  end,
};

struct Token {
  TokenKind kind;
  std::string text;
  Position at;

  bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
  bool is_symbol(std::string_view symbol) const {
    return kind == TokenKind::symbol && text == symbol;
  }
};

// Throws Error{bad_input} for a template that is no Jinja.
template <typename... Args>
[[noreturn]] void fail_at(Position at, fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorCode::bad_input, "template line {}, column {}: {}", at.line, at.column,
       fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace arion::jinja
