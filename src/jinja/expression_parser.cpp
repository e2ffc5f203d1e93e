#include "jinja/expression_parser.h"

#include <algorithm>

namespace arion::jinja {
namespace {

// Trees are walked recursively, also when they are freed.
constexpr uint32_t kMaxHeight = 400;
constexpr uint32_t kMaxExpressionNesting = 150;

uint32_t height_of(const ExprPtr& node) {
  return node ? node->height : 0;
}

template <typename... Nodes>
uint32_t height_of(const ExprPtr& first, const Nodes&... rest) {
  return std::max({height_of(first), height_of(rest)...});
}

uint32_t height_of(const std::vector<ExprPtr>& nodes) {
  uint32_t height = 0;
  for (const ExprPtr& node : nodes) height = std::max(height, node->height);
  return height;
}

uint32_t height_of(const CallArguments& arguments) {
  uint32_t height = std::max(height_of(arguments.positional),
                             height_of(arguments.more_positional, arguments.more_named));
  for (const auto& [name, value] : arguments.named) height = std::max(height, value->height);
  return height;
}

bool is_constant_name(std::string_view name) {
  for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
    if (name == constant) return true;
  }
  return false;
}

}  // namespace

class ExpressionParser::Nesting {
 public:
  explicit Nesting(ExpressionParser& parser) : parser_(parser) {
    if (++parser_.nesting_ > kMaxExpressionNesting) {
      fail_at(parser_.tokens_.current().at, "expressions are nested more than {} levels deep",
              kMaxExpressionNesting);
    }
  }
  ~Nesting() { --parser_.nesting_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  ExpressionParser& parser_;
};

template <typename Node>
ExprPtr ExpressionParser::make(Position at, Node node, uint32_t height_below) {
  if (height_below >= kMaxHeight) {
    fail_at(at, "an expression has more than {} levels of operators", kMaxHeight);
  }
  auto expression = std::make_unique<Expr>();
  expression->node = std::move(node);
  expression->at = at;
  expression->height = height_below + 1;
  return expression;
}

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

std::string ExpressionParser::target_name() {
  const Token& token = tokens_.expect(TokenKind::name);
  if (is_constant_name(token.text)) fail_at(token.at, "can't assign to '{}'", token.text);
  return token.text;
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
  return make(at, TupleLiteral{std::move(items)}, height);
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
    node = make(at, Conditional{std::move(test), std::move(node), std::move(otherwise)}, height);
  }
  return node;
}

ExprPtr ExpressionParser::disjunction() {
  ExprPtr left = conjunction();
  while (tokens_.is_name("or")) {
    const Position at = tokens_.next().at;
    ExprPtr right = conjunction();
    const uint32_t height = height_of(left, right);
    left = make(at, Logical{false, std::move(left), std::move(right)}, height);
  }
  return left;
}

ExprPtr ExpressionParser::conjunction() {
  ExprPtr left = negation();
  while (tokens_.is_name("and")) {
    const Position at = tokens_.next().at;
    ExprPtr right = negation();
    const uint32_t height = height_of(left, right);
    left = make(at, Logical{true, std::move(left), std::move(right)}, height);
  }
  return left;
}

ExprPtr ExpressionParser::negation() {
  if (!tokens_.is_name("not")) return comparison();
  const Nesting nesting(*this);
  const Position at = tokens_.next().at;
  ExprPtr operand = negation();
  const uint32_t height = height_of(operand);
  return make(at, Not{std::move(operand)}, height);
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
  return make(at, std::move(node), height);
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
    left = make(at, Binary{op->second, std::move(left), std::move(right)}, height);
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
  return make(at, Concat{std::move(items)}, height);
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
    node = make(token.at, Sign{token.text[0], std::move(operand)}, height);
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return with_filters ? filters_and_tests(std::move(node)) : std::move(node);
}

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

ExprPtr ExpressionParser::name(Form form) {
  const Token& token = tokens_.next();
  if (is_constant_name(token.text)) {
    const char first = static_cast<char>(token.text[0] | 0x20);
    const Value value = first == 'n' ? Value::none() : Value::boolean(first == 't');
    return make(token.at, Constant{value}, 0);
  }
  if (form == Form::targets_or_attributes && tokens_.skip_symbol(".")) {
    const Token& attribute = tokens_.expect(TokenKind::name);
    return make(token.at, NamespaceTarget{token.text, make_string(heap_, attribute.text), {}}, 0);
  }
  return make(token.at, Name{token.text, make_string(heap_, token.text), {}}, 0);
}

ExprPtr ExpressionParser::string() {
  const Position at = tokens_.current().at;
  std::string text;
  while (tokens_.is(TokenKind::string)) text += tokens_.next().text;
  return make(at, Constant{make_string(heap_, text)}, 0);
}

ExprPtr ExpressionParser::number() {
  const Token& token = tokens_.next();
  if (token.kind == TokenKind::real) {
    return make(token.at, Constant{Value::real(parse_float(token.text).value_or(0))}, 0);
  }
  const auto value = parse_int(token.text, 0);
  if (!value) fail_at(token.at, "'{}' is no integer", token.text);
  return make(token.at, Constant{make_integer(heap_, *value)}, 0);
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
  return make(at, ListLiteral{std::move(items)}, height);
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
  return make(at, std::move(node), height);
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
    return make(at, Attribute{std::move(object), make_string(heap_, tokens_.next().text)}, height);
  }
  if (!tokens_.is(TokenKind::integer)) {
    fail_at(tokens_.current().at, "expected name or number");
  }
  return make(at, Item{std::move(object), number()}, height);
}

ExprPtr ExpressionParser::subscript(ExprPtr object) {
  const Position at = tokens_.next().at;
  if (tokens_.is_symbol("]")) {
    tokens_.next();
    const uint32_t height = height_of(object);
    return make(at, Item{std::move(object), make(at, TupleLiteral{}, 0)}, height);
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
    return make(at, std::move(slice), height);
  }
  std::vector<ExprPtr> indices;
  indices.push_back(slice.start ? std::move(slice.start) : expression());
  while (tokens_.skip_symbol(",")) indices.push_back(expression());
  tokens_.expect_symbol("]");
  uint32_t height = height_of(indices);
  ExprPtr index = std::move(indices[0]);
  if (indices.size() > 1) {
    indices[0] = std::move(index);
    index = make(at, TupleLiteral{std::move(indices)}, height);
  }
  height = height_of(object, index);
  return make(at, Item{std::move(object), std::move(index)}, height);
}

ExprPtr ExpressionParser::call(ExprPtr callee) {
  const Position at = tokens_.current().at;
  CallArguments arguments = call_arguments();
  const uint32_t height = std::max(height_of(callee), height_of(arguments));
  return make(at, Call{std::move(callee), std::move(arguments)}, height);
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
  return make(at, std::move(node), height);
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
  ExprPtr result = make(at, std::move(node), height);
  if (!is_negated) return result;
  return make(at, Not{std::move(result)}, height + 1);
}

}  // namespace arion::jinja
