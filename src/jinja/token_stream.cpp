#include "jinja/token_stream.h"

namespace arion::jinja {
namespace {

std::string_view describe(TokenKind kind) {
  switch (kind) {
    case TokenKind::data:
      return "template data / text";
    case TokenKind::variable_begin:
      return "begin of print statement";
    case TokenKind::variable_end:
      return "end of print statement";
    case TokenKind::block_begin:
      return "begin of statement block";
    case TokenKind::block_end:
      return "end of statement block";
    case TokenKind::name:
      return "name";
    case TokenKind::string:
      return "string";
    case TokenKind::integer:
      return "integer";
    case TokenKind::real:
      return "float";
    case TokenKind::symbol:
      return "symbol";
    case TokenKind::end:
      break;
  }
  return "end of template";
}

}  // namespace

std::string describe(const Token& token) {
  if (token.kind == TokenKind::name || token.kind == TokenKind::symbol) return token.text;
  return std::string(describe(token.kind));
}

const Token& TokenStream::expect(TokenKind kind) {
  if (!is(kind)) fail_expected(describe(kind));
  return next();
}

const Token& TokenStream::expect_symbol(std::string_view symbol) {
  if (!is_symbol(symbol)) fail_expected(symbol);
  return next();
}

const Token& TokenStream::expect_name(std::string_view name) {
  if (!is_name(name)) fail_expected(name);
  return next();
}

void TokenStream::fail_expected(std::string_view wanted) const {
  if (is(TokenKind::end)) {
    fail_at(current().at, "unexpected end of template, expected '{}'.", wanted);
  }
  fail_at(current().at, "expected token '{}', got '{}'", wanted, describe(current()));
}

}  // namespace arion::jinja
