// Expressions.
#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "jinja/access.h"
#include "jinja/interpreter_scopes.h"
#include "jinja/operators.h"

namespace arion::jinja {

Value Interpreter::evaluate(const Expr& expression) {
  const Level level(*this);
  heap_.spend();
  return std::visit([&](const auto& node) { return value_of(node, expression.at); },
                    expression.node);
}

Value Interpreter::evaluate_or_none(const ExprPtr& expression) {
  return expression ? evaluate(*expression) : Value::none();
}

std::vector<Value> Interpreter::evaluate_all(const std::vector<ExprPtr>& expressions) {
  std::vector<Value> values;
  values.reserve(expressions.size());
  for (const ExprPtr& expression : expressions) values.push_back(evaluate(*expression));
  return values;
}

Value Interpreter::value_of(const Name& node, Position) {
  const Value value = slot(node.ref);
  return value.is_missing() ? make_undefined(heap_, Value(), node.name_value) : value;
}

Value Interpreter::value_of(const NamespaceTarget&, Position) {
  CHECK(false);  // only assigned to
}

Value Interpreter::value_of(const TupleLiteral& node, Position) {
  return make_tuple(heap_, evaluate_all(node.items));
}

Value Interpreter::value_of(const ListLiteral& node, Position) {
  return make_list(heap_, evaluate_all(node.items));
}

Value Interpreter::value_of(const DictLiteral& node, Position at) {
  DictObject* dict = nullptr;
  const Value result = make_dict(heap_, dict);
  for (const auto& [key, value] : node.entries) {
    const Value name = evaluate(*key);
    const Value item = evaluate(*value);
    at_ = at;
    heap_.charge(sizeof(DictObject::Entry) * 2);
    spend_for_key(heap_, name);
    dict->set(name, item);
  }
  return result;
}

Value Interpreter::value_of(const Conditional& node, Position at) {
  if (truth(evaluate(*node.test))) return evaluate(*node.then);
  if (node.otherwise) return evaluate(*node.otherwise);
  return make_undefined(
      heap_, fmt::format("the inline if-expression on line {} evaluated to false and no else "
                         "section was defined.",
                         at.line));
}

Value Interpreter::value_of(const Logical& node, Position) {
  const Value left = evaluate(*node.left);
  return truth(left) == node.is_and ? evaluate(*node.right) : left;
}

Value Interpreter::value_of(const Not& node, Position) {
  return Value::boolean(!truth(evaluate(*node.operand)));
}

Value Interpreter::value_of(const Sign& node, Position at) {
  const Value operand = evaluate(*node.operand);
  at_ = at;
  return apply_sign(heap_, node.sign, operand);
}

Value Interpreter::value_of(const Binary& node, Position at) {
  const Value left = evaluate(*node.left);
  const Value right = evaluate(*node.right);
  at_ = at;
  return apply(heap_, node.op, left, right);
}

Value Interpreter::value_of(const Concat& node, Position at) {
  Text text;
  for (const ExprPtr& item : node.items) {
    const Value value = evaluate(*item);
    at_ = at;
    append_str(heap_, text, value);
  }
  return make_string(heap_, std::move(text));
}

bool Interpreter::compares(Comparison comparison, const Value& a, const Value& b) {
  switch (comparison) {
    case Comparison::equal:
      return equals(heap_, a, b);
    case Comparison::unequal:
      return !equals(heap_, a, b);
    case Comparison::less:
      return is_ordered(heap_, Order::less, a, b);
    case Comparison::less_equal:
      return is_ordered(heap_, Order::less_equal, a, b);
    case Comparison::greater:
      return is_ordered(heap_, Order::greater, a, b);
    case Comparison::greater_equal:
      return is_ordered(heap_, Order::greater_equal, a, b);
    case Comparison::in:
      return contains(heap_, b, a);
    case Comparison::not_in:
      break;
  }
  return !contains(heap_, b, a);
}

Value Interpreter::value_of(const Compare& node, Position at) {
  Value left = evaluate(*node.first);
  for (const auto& [comparison, operand] : node.rest) {
    const Value right = evaluate(*operand);
    at_ = at;
    if (!compares(comparison, left, right)) return Value::boolean(false);
    left = right;
  }
  return Value::boolean(true);
}

Value Interpreter::value_of(const Attribute& node, Position at) {
  const Value object = evaluate(*node.object);
  at_ = at;
  return get_attribute(*this, object, node.name);
}

Value Interpreter::value_of(const Item& node, Position at) {
  const Value object = evaluate(*node.object);
  const Value index = evaluate(*node.index);
  at_ = at;
  return get_item(*this, object, index);
}

Value Interpreter::value_of(const SliceOf& node, Position at) {
  const Value object = evaluate(*node.object);
  const Slice slice{evaluate_or_none(node.start), evaluate_or_none(node.stop),
                    evaluate_or_none(node.step)};
  at_ = at;
  return get_slice(*this, object, slice);
}

Arguments Interpreter::evaluate(const CallArguments& arguments) {
  Arguments values;
  values.positional = evaluate_all(arguments.positional);
  for (const auto& [name, value] : arguments.named) {
    values.named.emplace_back(name, evaluate(*value));
  }
  if (arguments.more_positional) {
    const Value more = evaluate(*arguments.more_positional);
    if (!is_iterable(more)) {
      fail(ErrorCode::bad_input, "argument after * must be an iterable, not {}", type_name(more));
    }
    const std::vector<Value> items = collect(heap_, more);
    values.positional.insert(values.positional.end(), items.begin(), items.end());
  }
  if (!arguments.more_named) return values;
  const Value more = evaluate(*arguments.more_named);
  if (!more.is_dict()) {
    fail(ErrorCode::bad_input, "argument after ** must be a mapping, not {}", type_name(more));
  }
  for (const auto& [key, value] : more.as_dict().entries()) {
    if (!key.is_string()) fail(ErrorCode::bad_input, "keywords must be strings");
    const std::string name(key.bytes());
    heap_.spend(values.named.size());
    if (std::ranges::count(values.named, name, &std::pair<std::string, Value>::first) > 0) {
      fail(ErrorCode::bad_input, "got multiple values for keyword argument '{}'", name);
    }
    values.named.emplace_back(name, value);
  }
  return values;
}

Value Interpreter::value_of(const Call& node, Position at) {
  const Value callee = evaluate(*node.callee);
  const Arguments arguments = evaluate(node.arguments);
  at_ = at;
  return call(callee, arguments);
}

Value Interpreter::call(const Value& callee, const Arguments& arguments) {
  switch (callee.kind()) {
    case Kind::callable:
      return callee.as_callable().call(*this, arguments);
    case Kind::object:
      return callee.as_object().call(*this, arguments);
    case Kind::undefined:
      fail(ErrorCode::bad_input, "{}", callee.as_undefined().message());
    default:
      fail(ErrorCode::bad_input, "'{}' object is not callable", type_name(callee));
  }
}

Value Interpreter::apply_filter(const FilterCall& node, const Value& subject, Position at) {
  if (node.function == nullptr) {
    at_ = at;
    fail(ErrorCode::bad_input, "No filter named '{}' found.", node.name);
  }
  const Arguments arguments = evaluate(node.arguments);
  at_ = at;
  return node.function(*this, subject, arguments);
}

Value Interpreter::value_of(const FilterCall& node, Position at) {
  return apply_filter(node, evaluate(*node.subject), at);
}

Value Interpreter::apply_block_filter(const Expr& filter, const Value& text) {
  const auto& node = std::get<FilterCall>(filter.node);
  const Value subject = node.subject ? apply_block_filter(*node.subject, text) : text;
  return apply_filter(node, subject, filter.at);
}

Value Interpreter::value_of(const TestCall& node, Position at) {
  if (node.function == nullptr) {
    at_ = at;
    fail(ErrorCode::bad_input, "No test named '{}' found.", node.name);
  }
  const Value subject = evaluate(*node.subject);
  const Arguments arguments = evaluate(node.arguments);
  at_ = at;
  return Value::boolean(node.function(*this, subject, arguments));
}

}  // namespace arion::jinja
