// Expressions: Jinja's precedence from the conditional down to the literal.
#pragma once
#include <initializer_list>
#include <string_view>
#include <vector>

#include "jinja/ast.h"
#include "jinja/token_stream.h"

namespace arion::jinja {

class ExpressionParser {
 public:
  // Both must outlive the parser; constants of the tree are made in `heap`.
  ExpressionParser(TokenStream& tokens, Heap& heap) : tokens_(tokens), heap_(heap) {}

  enum class IfElse : uint8_t { allowed, refused };  // "a if b else c"

  ExprPtr expression(IfElse if_else = IfElse::allowed);
  // One expression, or several with commas between them: a tuple. Ends in front of `end_name`.
  ExprPtr tuple(IfElse if_else = IfElse::allowed, std::string_view end_name = {});
  // What may stand on the left of an assignment.
  ExprPtr target(std::string_view end_name = {});
  ExprPtr target_or_attribute();  // also namespace.attribute
  std::string target_name();
  // A name with '|' and further filters, for a block. Null subject innermost.
  ExprPtr block_filter();
  // "| name ..." behind `subject`, which may be null.
  ExprPtr filters(ExprPtr subject);

 private:
  enum class Form : uint8_t { expressions, targets, targets_or_attributes };
  using Level = ExprPtr (ExpressionParser::*)();

  // Counts calls within calls, of which there are a limited number.
  class Nesting {
   public:
    explicit Nesting(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting) {
        fail_at(parser_.tokens_.current().at, "expressions are nested more than {} levels deep",
                kMaxNesting);
      }
    }
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    static constexpr uint32_t kMaxNesting = 150;

    ExpressionParser& parser_;
  };

  ExprPtr comma_list(Form form, IfElse if_else, std::string_view end_name, bool is_parenthesised);
  bool ends_tuple(std::string_view end_name) const;
  ExprPtr conditional();
  ExprPtr disjunction();
  ExprPtr conjunction();
  ExprPtr negation();
  ExprPtr comparison();
  ExprPtr sum();
  ExprPtr concatenation();
  ExprPtr product();
  ExprPtr power();
  ExprPtr unary() { return unary_with(true); }
  ExprPtr unary_with(bool with_filters);
  ExprPtr primary(Form form = Form::expressions);
  ExprPtr name(Form form);
  ExprPtr string();
  ExprPtr number();
  ExprPtr list();
  ExprPtr dict();
  ExprPtr postfix(ExprPtr node);
  ExprPtr filters_and_tests(ExprPtr node);
  ExprPtr attribute(ExprPtr object);
  ExprPtr subscript(ExprPtr object);
  ExprPtr call(ExprPtr callee);
  CallArguments call_arguments();
  ExprPtr filter(ExprPtr subject);
  ExprPtr test(ExprPtr subject);
  std::string dotted_name();

  // A chain of binary operators, the left ones first.
  ExprPtr chain(Level operand, std::initializer_list<std::pair<std::string_view, BinaryOp>> ops);
  void check_target(const Expr& target) const;

  TokenStream& tokens_;
  Heap& heap_;
  uint32_t nesting_ = 0;
};

}  // namespace arion::jinja
