// Tokens one after the other, with the messages of Jinja's parser.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "jinja/token.h"

namespace arion::jinja {

std::string describe(const Token& token);

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[at_]; }
  const Token& look() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  bool is(TokenKind kind) const { return current().kind == kind; }
  bool is_name(std::string_view name) const { return current().is_name(name); }
  bool is_symbol(std::string_view symbol) const { return current().is_symbol(symbol); }

  // The current token, moving on; the last token stays.
  const Token& next() {
    const Token& token = current();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool skip_name(std::string_view name) { return skip_if(is_name(name)); }
  bool skip_symbol(std::string_view symbol) { return skip_if(is_symbol(symbol)); }

  // The current token, which must be as wanted. Throws Error.
  const Token& expect(TokenKind kind);
  const Token& expect_symbol(std::string_view symbol);
  const Token& expect_name(std::string_view name);
  [[noreturn]] void fail_expected(std::string_view wanted) const;

 private:
  bool skip_if(bool condition) {
    if (condition) next();
    return condition;
  }

  std::vector<Token> tokens_;  // the last one is `end`
  size_t at_ = 0;
};

}  // namespace arion::jinja
