// Operands of expressions: literals and names with what stands behind them.
#include <algorithm>

#include "jinja/expression_node.h"
#include "jinja/expression_parser.h"

namespace arion::jinja {
namespace {

bool is_constant_name(std::string_view name) {
  for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
    if (name == constant) return true;
  }
  return false;
}

}  // namespace

ExprPtr ExpressionParser::primary(Form form) {
  switch (tokens_.current().kind) {
    case TokenKind::name:
      return name(form);
    case TokenKind::string:
      return string();
    case TokenKind::integer:
    case TokenKind::real:
      return number();
    default:
      break;
  }
  if (tokens_.skip_symbol("(")) {
    ExprPtr node = comma_list(Form::expressions, IfElse::allowed, {}, true);
    tokens_.expect_symbol(")");
    return node;
  }
  if (tokens_.is_symbol("[")) return list();
  if (tokens_.is_symbol("{")) return dict();
  fail_at(tokens_.current().at, "unexpected '{}'", describe(tokens_.current()));
}

std::string ExpressionParser::target_name() {
  const Token& token = tokens_.expect(TokenKind::name);
  if (is_constant_name(token.text)) fail_at(token.at, "can't assign to '{}'", token.text);
  return token.text;
}

ExprPtr ExpressionParser::name(Form form) {
  const Token& token = tokens_.next();
  if (is_constant_name(token.text)) {
    const char first = static_cast<char>(token.text[0] | 0x20);
    const Value value = first == 'n' ? Value::none() : Value::boolean(first == 't');
    return make_expression(token.at, Constant{value}, 0);
  }
  if (form == Form::targets_or_attributes && tokens_.skip_symbol(".")) {
    const Token& attribute = tokens_.expect(TokenKind::name);
    return make_expression(token.at,
                           NamespaceTarget{token.text, make_string(heap_, attribute.text), {}}, 0);
  }
  return make_expression(token.at, Name{token.text, make_string(heap_, token.text), {}}, 0);
}

ExprPtr ExpressionParser::string() {
  const Position at = tokens_.current().at;
  std::string text;
  while (tokens_.is(TokenKind::string)) text += tokens_.next().text;
  return make_expression(at, Constant{make_string(heap_, text)}, 0);
}

ExprPtr ExpressionParser::number() {
  const Token& token = tokens_.next();
  if (token.kind == TokenKind::real) {
    return make_expression(token.at, Constant{Value::real(parse_float(token.text).value_or(0))}, 0);
  }
  const auto value = parse_int(token.text, 0);
  if (!value) fail_at(token.at, "'{}' is no integer", token.text);
  return make_expression(token.at, Constant{make_integer(heap_, *value)}, 0);
}

ExprPtr ExpressionParser::list() {
  const Position at = tokens_.expect_symbol("[").at;
  std::vector<ExprPtr> items;
  while (!tokens_.is_symbol("]")) {
    if (!items.empty()) tokens_.expect_symbol(",");
    if (tokens_.is_symbol("]")) break;
    items.push_back(expression());
  }
  tokens_.expect_symbol("]");
  const uint32_t height = height_of(items);
  return make_expression(at, ListLiteral{std::move(items)}, height);
}

ExprPtr ExpressionParser::dict() {
  const Position at = tokens_.expect_symbol("{").at;
  DictLiteral node;
  uint32_t height = 0;
  while (!tokens_.is_symbol("}")) {
    if (!node.entries.empty()) tokens_.expect_symbol(",");
    if (tokens_.is_symbol("}")) break;
    ExprPtr key = expression();
    tokens_.expect_symbol(":");
    ExprPtr value = expression();
    height = std::max(height, height_of(key, value));
    node.entries.emplace_back(std::move(key), std::move(value));
  }
  tokens_.expect_symbol("}");
  return make_expression(at, std::move(node), height);
}

ExprPtr ExpressionParser::postfix(ExprPtr node) {
  for (;;) {
    if (tokens_.is_symbol(".")) {
      node = attribute(std::move(node));
    } else if (tokens_.is_symbol("[")) {
      node = subscript(std::move(node));
    } else if (tokens_.is_symbol("(")) {
      node = call(std::move(node));
    } else {
      return node;
    }
  }
}

ExprPtr ExpressionParser::filters_and_tests(ExprPtr node) {
  for (;;) {
    if (tokens_.is_symbol("|")) {
      node = filters(std::move(node));
    } else if (tokens_.is_name("is")) {
      node = test(std::move(node));
    } else if (tokens_.is_symbol("(")) {
      node = call(std::move(node));
    } else {
      return node;
    }
  }
}

ExprPtr ExpressionParser::attribute(ExprPtr object) {
  const Position at = tokens_.next().at;
  const uint32_t height = height_of(object);
  if (tokens_.is(TokenKind::name)) {
    return make_expression(
        at, Attribute{std::move(object), make_string(heap_, tokens_.next().text)}, height);
  }
  if (!tokens_.is(TokenKind::integer)) {
    fail_at(tokens_.current().at, "expected name or number");
  }
  return make_expression(at, Item{std::move(object), number()}, height);
}

ExprPtr ExpressionParser::subscript(ExprPtr object) {
  const Position at = tokens_.next().at;
  if (tokens_.is_symbol("]")) {
    tokens_.next();
    const uint32_t height = height_of(object);
    return make_expression(at, Item{std::move(object), make_expression(at, TupleLiteral{}, 0)},
                           height);
  }
  SliceOf slice;
  const auto has_bound = [&] {
    return !tokens_.is_symbol(":") && !tokens_.is_symbol("]") && !tokens_.is_symbol(",");
  };
  if (has_bound()) slice.start = expression();
  if (tokens_.skip_symbol(":")) {
    if (has_bound()) slice.stop = expression();
    if (tokens_.skip_symbol(":") && has_bound()) slice.step = expression();
    tokens_.expect_symbol("]");
    const uint32_t height = height_of(object, slice.start, slice.stop, slice.step);
    slice.object = std::move(object);
    return make_expression(at, std::move(slice), height);
  }
  std::vector<ExprPtr> indices;
  indices.push_back(slice.start ? std::move(slice.start) : expression());
  while (tokens_.skip_symbol(",")) indices.push_back(expression());
  tokens_.expect_symbol("]");
  uint32_t height = height_of(indices);
  ExprPtr index = std::move(indices[0]);
  if (indices.size() > 1) {
    indices[0] = std::move(index);
    index = make_expression(at, TupleLiteral{std::move(indices)}, height);
  }
  height = height_of(object, index);
  return make_expression(at, Item{std::move(object), std::move(index)}, height);
}

ExprPtr ExpressionParser::call(ExprPtr callee) {
  const Position at = tokens_.current().at;
  CallArguments arguments = call_arguments();
  const uint32_t height = std::max(height_of(callee), height_of(arguments));
  return make_expression(at, Call{std::move(callee), std::move(arguments)}, height);
}

CallArguments ExpressionParser::call_arguments() {
  const Position at = tokens_.expect_symbol("(").at;
  const auto ensure = [&](bool condition) {
    if (!condition) fail_at(at, "invalid syntax for function call expression");
  };
  CallArguments arguments;
  for (bool is_first = true; !tokens_.is_symbol(")"); is_first = false) {
    if (!is_first) {
      tokens_.expect_symbol(",");
      if (tokens_.is_symbol(")")) break;
    }
    const bool may_be_positional = !arguments.more_positional && !arguments.more_named;
    if (tokens_.skip_symbol("*")) {
      ensure(may_be_positional);
      arguments.more_positional = expression();
    } else if (tokens_.skip_symbol("**")) {
      ensure(!arguments.more_named);
      arguments.more_named = expression();
    } else if (tokens_.is(TokenKind::name) && tokens_.look().is_symbol("=")) {
      ensure(!arguments.more_named);
      std::string name = tokens_.next().text;
      tokens_.next();
      for (const auto& [other, value] : arguments.named) {
        if (other == name) fail_at(at, "keyword argument repeated: {}", name);
      }
      arguments.named.emplace_back(std::move(name), expression());
    } else {
      ensure(may_be_positional && arguments.named.empty());
      arguments.positional.push_back(expression());
    }
  }
  tokens_.expect_symbol(")");
  return arguments;
}

std::string ExpressionParser::dotted_name() {
  std::string name = tokens_.expect(TokenKind::name).text;
  while (tokens_.skip_symbol(".")) name += '.' + tokens_.expect(TokenKind::name).text;
  return name;
}

ExprPtr ExpressionParser::filter(ExprPtr subject) {
  const Position at = tokens_.current().at;
  FilterCall node{std::move(subject), dotted_name(), nullptr, {}};
  node.function = find_filter(node.name);
  if (tokens_.is_symbol("(")) node.arguments = call_arguments();
  const uint32_t height = std::max(height_of(node.subject), height_of(node.arguments));
  return make_expression(at, std::move(node), height);
}

ExprPtr ExpressionParser::filters(ExprPtr subject) {
  while (tokens_.skip_symbol("|")) subject = filter(std::move(subject));
  return subject;
}

ExprPtr ExpressionParser::block_filter() {
  return filters(filter(nullptr));
}

ExprPtr ExpressionParser::test(ExprPtr subject) {
  const Position at = tokens_.next().at;
  const bool is_negated = tokens_.skip_name("not");
  TestCall node{std::move(subject), dotted_name(), nullptr, {}};
  node.function = find_test(node.name);
  const auto begins_argument = [&] {
    switch (tokens_.current().kind) {
      case TokenKind::name:
        return !tokens_.is_name("else") && !tokens_.is_name("or") && !tokens_.is_name("and");
      case TokenKind::string:
      case TokenKind::integer:
      case TokenKind::real:
        return true;
      default:
        return tokens_.is_symbol("[") || tokens_.is_symbol("{");
    }
  };
  if (tokens_.is_symbol("(")) {
    node.arguments = call_arguments();
  } else if (begins_argument()) {
    if (tokens_.is_name("is")) {
      fail_at(tokens_.current().at, "You cannot chain multiple tests with is");
    }
    const Nesting nesting(*this);
    node.arguments.positional.push_back(postfix(primary()));
  }
  const uint32_t height = std::max(height_of(node.subject), height_of(node.arguments));
  ExprPtr result = make_expression(at, std::move(node), height);
  if (!is_negated) return result;
  return make_expression(at, Not{std::move(result)}, height + 1);
}

}  // namespace arion::jinja
