// Operators by their precedence, and tuples.
#include "jinja/expression_parser.h"

#include <algorithm>

#include "jinja/expression_node.h"

namespace arion::jinja {

ExprPtr ExpressionParser::expression(IfElse if_else) {
  const Nesting nesting(*this);
  return if_else == IfElse::allowed ? conditional() : disjunction();
}

ExprPtr ExpressionParser::tuple(IfElse if_else, std::string_view end_name) {
  return comma_list(Form::expressions, if_else, end_name, false);
}

ExprPtr ExpressionParser::target(std::string_view end_name) {
  ExprPtr node = comma_list(Form::targets, IfElse::allowed, end_name, false);
  check_target(*node);
  return node;
}

ExprPtr ExpressionParser::target_or_attribute() {
  ExprPtr node = comma_list(Form::targets_or_attributes, IfElse::allowed, {}, false);
  check_target(*node);
  return node;
}

void ExpressionParser::check_target(const Expr& target) const {
  if (std::holds_alternative<Name>(target.node) ||
      std::holds_alternative<NamespaceTarget>(target.node)) {
    return;
  }
  const auto* tuple = std::get_if<TupleLiteral>(&target.node);
  if (tuple == nullptr) fail_at(target.at, "can't assign to this expression");
  for (const ExprPtr& item : tuple->items) check_target(*item);
}

bool ExpressionParser::ends_tuple(std::string_view end_name) const {
  return tokens_.is(TokenKind::variable_end) || tokens_.is(TokenKind::block_end) ||
         tokens_.is_symbol(")") || (!end_name.empty() && tokens_.is_name(end_name));
}

ExprPtr ExpressionParser::comma_list(Form form, IfElse if_else, std::string_view end_name,
                                     bool is_parenthesised) {
  const Nesting nesting(*this);
  const Position at = tokens_.current().at;
  std::vector<ExprPtr> items;
  bool is_tuple = false;
  for (;;) {
    if (!items.empty()) tokens_.expect_symbol(",");
    if (ends_tuple(end_name)) break;
    items.push_back(form == Form::expressions ? expression(if_else) : primary(form));
    if (!tokens_.is_symbol(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return std::move(items[0]);
  if (!is_tuple && !is_parenthesised) {
    fail_at(tokens_.current().at, "Expected an expression, got '{}'", describe(tokens_.current()));
  }
  const uint32_t height = height_of(items);
  return make_expression(at, TupleLiteral{std::move(items)}, height);
}

ExprPtr ExpressionParser::conditional() {
  ExprPtr node = disjunction();
  while (tokens_.is_name("if")) {
    const Position at = tokens_.next().at;
    ExprPtr test = disjunction();
    ExprPtr otherwise;
    if (tokens_.skip_name("else")) {
      const Nesting nesting(*this);
      otherwise = conditional();
    }
    const uint32_t height = height_of(test, node, otherwise);
    node = make_expression(at, Conditional{std::move(test), std::move(node), std::move(otherwise)},
                           height);
  }
  return node;
}

ExprPtr ExpressionParser::disjunction() {
  ExprPtr left = conjunction();
  while (tokens_.is_name("or")) {
    const Position at = tokens_.next().at;
    ExprPtr right = conjunction();
    const uint32_t height = height_of(left, right);
    left = make_expression(at, Logical{false, std::move(left), std::move(right)}, height);
  }
  return left;
}

ExprPtr ExpressionParser::conjunction() {
  ExprPtr left = negation();
  while (tokens_.is_name("and")) {
    const Position at = tokens_.next().at;
    ExprPtr right = negation();
    const uint32_t height = height_of(left, right);
    left = make_expression(at, Logical{true, std::move(left), std::move(right)}, height);
  }
  return left;
}

ExprPtr ExpressionParser::negation() {
  if (!tokens_.is_name("not")) return comparison();
  const Nesting nesting(*this);
  const Position at = tokens_.next().at;
  ExprPtr operand = negation();
  const uint32_t height = height_of(operand);
  return make_expression(at, Not{std::move(operand)}, height);
}

ExprPtr ExpressionParser::comparison() {
  constexpr std::pair<std::string_view, Comparison> kSymbols[] = {
      {"==", Comparison::equal},  {"!=", Comparison::unequal},
      {"<", Comparison::less},    {"<=", Comparison::less_equal},
      {">", Comparison::greater}, {">=", Comparison::greater_equal}};
  const Position at = tokens_.current().at;
  Compare node{sum(), {}};
  uint32_t height = height_of(node.first);
  for (;;) {
    std::optional<Comparison> comparison;
    for (const auto& [symbol, meaning] : kSymbols) {
      if (tokens_.is_symbol(symbol)) comparison = meaning;
    }
    if (tokens_.is_name("in")) comparison = Comparison::in;
    if (tokens_.is_name("not") && tokens_.look().is_name("in")) {
      tokens_.next();
      comparison = Comparison::not_in;
    }
    if (!comparison) break;
    tokens_.next();
    node.rest.emplace_back(*comparison, sum());
    height = std::max(height, height_of(node.rest.back().second));
  }
  if (node.rest.empty()) return std::move(node.first);
  return make_expression(at, std::move(node), height);
}

ExprPtr ExpressionParser::chain(Level operand,
                                std::initializer_list<std::pair<std::string_view, BinaryOp>> ops) {
  ExprPtr left = (this->*operand)();
  for (;;) {
    const auto op = std::find_if(ops.begin(), ops.end(), [&](const auto& candidate) {
      return tokens_.is_symbol(candidate.first);
    });
    if (op == ops.end()) return left;
    const Position at = tokens_.next().at;
    ExprPtr right = (this->*operand)();
    const uint32_t height = height_of(left, right);
    left = make_expression(at, Binary{op->second, std::move(left), std::move(right)}, height);
  }
}

ExprPtr ExpressionParser::sum() {
  return chain(&ExpressionParser::concatenation, {{"+", BinaryOp::add}, {"-", BinaryOp::subtract}});
}

ExprPtr ExpressionParser::concatenation() {
  const Position at = tokens_.current().at;
  std::vector<ExprPtr> items;
  items.push_back(product());
  while (tokens_.skip_symbol("~")) items.push_back(product());
  if (items.size() == 1) return std::move(items[0]);
  const uint32_t height = height_of(items);
  return make_expression(at, Concat{std::move(items)}, height);
}

ExprPtr ExpressionParser::product() {
  return chain(&ExpressionParser::power, {{"*", BinaryOp::multiply},
                                          {"/", BinaryOp::divide},
                                          {"//", BinaryOp::floor_divide},
                                          {"%", BinaryOp::modulo}});
}

ExprPtr ExpressionParser::power() {
  return chain(&ExpressionParser::unary, {{"**", BinaryOp::power}});
}

ExprPtr ExpressionParser::unary_with(bool with_filters) {
  ExprPtr node;
  if (tokens_.is_symbol("-") || tokens_.is_symbol("+")) {
    const Nesting nesting(*this);
    const Token& token = tokens_.next();
    ExprPtr operand = unary_with(false);
    const uint32_t height = height_of(operand);
    node = make_expression(token.at, Sign{token.text[0], std::move(operand)}, height);
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return with_filters ? filters_and_tests(std::move(node)) : std::move(node);
}

}  // namespace arion::jinja
