// Statements: output, assignment, branches, loops, blocks. Expressions are in evaluate.cpp, macros
// in macro.cpp.
#include "jinja/interpreter.h"

#include "base/error.h"
#include "jinja/builtins.h"
#include "jinja/interpreter_scopes.h"
#include "jinja/loop.h"
#include "jinja/operators.h"

namespace arion::jinja {

Interpreter::Interpreter(const Tree& tree, const Value& variables, const Limits& limits,
                         LocalTime now)
    : tree_(tree), variables_(variables.as_dict()), now_(now), heap_(limits) {}

Text Interpreter::run() {
  Text text;
  out_ = &text;
  root_ = active_ = heap_.make<Activation>(tree_.unit.slot_count, nullptr);
  heap_.charge(tree_.unit.slot_count * sizeof(Value));
  try {
    enter(tree_.frame);
    execute(tree_.body);
  } catch (const Error& error) {
    fail_at(at_, "{}", error.what());
  }
  return text;
}

Interpreter::Flow Interpreter::execute(const Body& body) {
  for (const auto& statement : body) {
    const Flow flow = execute(*statement);
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Interpreter::Flow Interpreter::execute(const Stmt& statement) {
  const Level level(*this);
  heap_.spend();
  at_ = statement.at;
  return std::visit([&](const auto& node) { return run(node, statement.at); }, statement.node);
}

Interpreter::Flow Interpreter::run(const Output& node, Position) {
  for (const ExprPtr& part : node.parts) {
    const Value value = evaluate(*part);
    at_ = part->at;
    emit(value);
  }
  return Flow::normal;
}

void Interpreter::emit(const Value& value) {
  append_str(heap_, *out_, value);
  if (out_->size() > heap_.limits().output_bytes) {
    fail(ErrorCode::bad_input, "the text of the template is longer than {} bytes",
         heap_.limits().output_bytes);
  }
}

Interpreter::Flow Interpreter::run(const Assign& node, Position) {
  const Value value = evaluate(*node.value);
  at_ = node.target->at;
  assign(*node.target, value);
  return Flow::normal;
}

Interpreter::Flow Interpreter::run(const AssignBlock& node, Position) {
  enter(node.frame);
  Capture capture(*this);
  const Flow flow = execute(node.body);
  Value value = capture.take();
  if (flow != Flow::normal) return flow;
  if (node.filter) value = apply_block_filter(*node.filter, value);
  assign(*node.target, value);
  return Flow::normal;
}

Interpreter::Flow Interpreter::run(const If& node, Position) {
  for (const auto& branch : node.branches) {
    if (truth(evaluate(*branch.test))) return execute(branch.body);
  }
  return execute(node.otherwise);
}

Interpreter::Flow Interpreter::run(const With& node, Position) {
  // Values see what is around the block, not each other.
  const std::vector<Value> values = evaluate_all(node.values);
  enter(node.frame);
  for (size_t i = 0; i < values.size(); ++i) assign(*node.targets[i], values[i]);
  return execute(node.body);
}

Interpreter::Flow Interpreter::run(const FilterBlock& node, Position) {
  enter(node.frame);
  Capture capture(*this);
  const Flow flow = execute(node.body);
  const Value text = capture.take();
  if (flow == Flow::normal) emit(apply_block_filter(*node.filter, text));
  return flow;
}

Interpreter::Flow Interpreter::run(const Generation& node, Position) {
  enter(node.frame);
  return execute(node.body);
}

Interpreter::Flow Interpreter::run(const For& node, Position) {
  const Value iterable = evaluate(*node.iterable);
  at_ = node.iterable->at;
  if (!node.is_recursive) return loop_over(node, iterable, 0, nullptr);
  emit(run_recursive(node, iterable, 0, active_));
  return Flow::normal;
}

Value Interpreter::run_recursive(const For& node, const Value& iterable, int64_t depth0,
                                 Activation* outer) {
  const Level level(*this);
  const ActivationSwitch inside(*this, node.unit, outer);
  Capture capture(*this);
  loop_over(node, iterable, depth0, outer);
  return capture.take();
}

Iterator Interpreter::filtered(const For& node, Iterator source) {
  enter(node.test_frame);
  return [this, &node, source = std::move(source), home = active_]() -> std::optional<Value> {
    Activation* const before = std::exchange(active_, home);
    std::optional<Value> item = source();
    for (; item; item = source()) {
      assign(*node.test_target, *item);
      if (truth(evaluate(*node.test))) break;
    }
    active_ = before;
    return item;
  };
}

// `outer`: around a recursive loop, null for others.
Interpreter::Flow Interpreter::loop_over(const For& node, const Value& iterable, int64_t depth0,
                                         Activation* outer) {
  LoopObject::Recurse recurse;
  if (outer != nullptr) {
    recurse = [this, &node, outer](const Value& items, int64_t depth) {
      return run_recursive(node, items, depth, outer);
    };
  }
  Iterator source = iterate(heap_, iterable);
  if (node.test) source = filtered(node, std::move(source));
  heap_.charge(128);  // what the functions captured
  LoopObject* const loop = heap_.make<LoopObject>(std::move(source), node.test ? Value() : iterable,
                                                  depth0, std::move(recurse));
  // As in Jinja2 `else` runs unless an iteration reached its end, not only where there was none.
  bool has_finished = false;
  while (const auto item = loop->advance()) {
    heap_.spend();
    enter(node.body_frame);
    slot(node.loop) = Value(Kind::object, loop);
    assign(*node.target, *item);
    const Flow flow = execute(node.body);
    if (flow == Flow::leave_loop) break;
    has_finished |= flow == Flow::normal;
  }
  if (has_finished || node.otherwise.empty()) return Flow::normal;
  enter(node.else_frame);
  return execute(node.otherwise);
}

Value& Interpreter::slot(Ref ref) {
  Activation* activation = active_;
  for (uint32_t i = 0; i < ref.hops; ++i) activation = activation->parent;
  return activation->slots[ref.slot];
}

void Interpreter::enter(const Frame& frame) {
  heap_.spend(frame.size());
  for (const SlotLoad& load : frame) {
    Value& target = active_->slots[load.slot];
    switch (load.action) {
      case SlotLoad::Action::resolve:
        target = resolve(load.name);
        break;
      case SlotLoad::Action::alias:
        target = slot(load.outer);
        break;
      case SlotLoad::Action::exported:
        target = slot(load.outer);
        if (target.is_missing()) target = resolve(load.name);
        break;
      case SlotLoad::Action::clear:
        target = Value();
        break;
      case SlotLoad::Action::parameter:
        break;
    }
  }
}

Value Interpreter::resolve(const std::string& name) {
  if (name == "self") return make_self();
  if (const Value* value = variables_.find(std::string_view(name))) return *value;
  const auto [entry, is_new] = globals_.try_emplace(name);
  if (is_new) entry->second = find_global(heap_, name);
  return entry->second;
}

void Interpreter::assign(const Expr& target, const Value& value) {
  if (const auto* name = std::get_if<Name>(&target.node)) {
    slot(name->ref) = value;
  } else if (const auto* attribute = std::get_if<NamespaceTarget>(&target.node)) {
    const Value& owner = slot(attribute->ref);
    if (!owner.is(Kind::name_space)) {
      fail(ErrorCode::bad_input, "cannot assign attribute on non-namespace object");
    }
    if (attribute->attribute.bytes().starts_with('_')) {
      fail(ErrorCode::bad_input, "cannot store underscore-prefixed attributes on a namespace");
    }
    heap_.charge(sizeof(DictObject::Entry) * 2);
    owner.as_namespace().attributes.set(attribute->attribute, value);
  } else {
    unpack(std::get<TupleLiteral>(target.node), value);
  }
}

void Interpreter::unpack(const TupleLiteral& targets, const Value& value) {
  if (!is_iterable(value)) {
    fail(ErrorCode::bad_input, "cannot unpack non-iterable {} object", type_name(value));
  }
  const size_t wanted = targets.items.size();
  std::vector<Value> items;
  const Iterator next = iterate(heap_, value);
  while (const auto item = next()) {
    if (items.size() == wanted) {
      fail(ErrorCode::bad_input, "too many values to unpack (expected {})", wanted);
    }
    items.push_back(*item);
  }
  if (items.size() < wanted) {
    fail(ErrorCode::bad_input, "not enough values to unpack (expected {}, got {})", wanted,
         items.size());
  }
  for (size_t i = 0; i < wanted; ++i) assign(*targets.items[i], items[i]);
}

}  // namespace arion::jinja
