// Macros and call blocks.
#include <algorithm>

#include "base/error.h"
#include "jinja/interpreter_scopes.h"
#include "jinja/operators.h"

namespace arion::jinja {

Interpreter::Flow Interpreter::run(const Macro& node, Position) {
  slot(node.target) = make_macro(node.definition);
  return Flow::normal;
}

Interpreter::Flow Interpreter::run(const CallBlock& node, Position) {
  const Value caller = make_macro(node.caller);
  const Call& call_node = std::get<Call>(node.call->node);
  const Value callee = evaluate(*call_node.callee);
  Arguments arguments = evaluate(call_node.arguments);
  arguments.named.emplace_back("caller", caller);
  at_ = node.call->at;
  emit(call(callee, arguments));
  return Flow::normal;
}

Value Interpreter::make_macro(const Definition& definition) {
  heap_.charge(256);  // its attributes and what the function captured
  auto* const macro = heap_.make<CallableObject>(
      definition.name, "Macro",
      [this, &definition, outer = active_](Runtime&, const Arguments& arguments) {
        return invoke(definition, outer, arguments);
      });
  std::vector<Value> names;
  for (const auto& parameter : definition.parameters) {
    names.push_back(make_string(heap_, parameter.name));
  }
  macro->attributes = {
      {"name", definition.name.empty() ? Value::none() : make_string(heap_, definition.name)},
      {"arguments", make_tuple(heap_, std::move(names))},
      {"catch_kwargs", Value::boolean(definition.kwargs.has_value())},
      {"catch_varargs", Value::boolean(definition.varargs.has_value())},
      {"caller", Value::boolean(definition.caller.has_value())}};
  return Value(Kind::callable, macro);
}

// After jinja2.runtime.Macro.__call__.
void Interpreter::bind_parameters(const Definition& definition, const Arguments& arguments,
                                  std::vector<Value>& slots) {
  const size_t count = definition.parameters.size();
  const auto& positional = arguments.positional;
  std::vector<std::pair<std::string, Value>> named = arguments.named;
  const auto take = [&](std::string_view name) {
    const auto found = std::ranges::find(named, name, &std::pair<std::string, Value>::first);
    if (found == named.end()) return Value();
    const Value value = found->second;
    named.erase(found);
    return value;
  };
  for (size_t i = 0; i < count; ++i) {
    const auto& parameter = definition.parameters[i];
    slots[parameter.slot] = i < positional.size() ? positional[i] : take(parameter.name);
  }
  if (definition.caller && !definition.has_explicit_caller) {
    const Value caller = take("caller");
    slots[*definition.caller] =
        caller.is_missing() ? make_undefined(heap_, "No caller defined") : caller;
  }
  if (definition.kwargs) {
    DictObject* dict = nullptr;
    slots[*definition.kwargs] = make_dict(heap_, dict);
    for (const auto& [name, value] : named) {
      heap_.charge(sizeof(DictObject::Entry) * 2);
      dict->set(make_string(heap_, name), value);
    }
  } else if (!named.empty()) {
    if (std::ranges::count(named, "caller", &std::pair<std::string, Value>::first) > 0) {
      fail(ErrorCode::bad_input,
           "macro '{}' was invoked with two values for the special caller argument. This is most "
           "likely a bug.",
           definition.name);
    }
    fail(ErrorCode::bad_input, "macro '{}' takes no keyword argument '{}'", definition.name,
         named[0].first);
  }
  if (definition.varargs) {
    const size_t first = std::min(count, positional.size());
    slots[*definition.varargs] = make_tuple(
        heap_, {positional.begin() + static_cast<std::ptrdiff_t>(first), positional.end()});
  } else if (positional.size() > count) {
    fail(ErrorCode::bad_input, "macro '{}' takes not more than {} argument(s)", definition.name,
         count);
  }
}

Value Interpreter::invoke(const Definition& definition, Activation* outer,
                          const Arguments& arguments) {
  const Level level(*this);
  const ActivationSwitch inside(*this, definition.unit, outer);
  bind_parameters(definition, arguments, active_->slots);
  Capture capture(*this);
  enter(definition.frame);
  for (const auto& parameter : definition.parameters) {
    Value& value = active_->slots[parameter.slot];
    if (!value.is_missing()) continue;
    const Value initial =
        parameter.initial
            ? evaluate(*parameter.initial)
            : make_undefined(heap_, "parameter '" + parameter.name + "' was not provided");
    active_->slots[parameter.slot] = initial;
  }
  execute(definition.body);
  return capture.take();
}

}  // namespace arion::jinja
