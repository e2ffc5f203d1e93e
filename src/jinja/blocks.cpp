// Blocks, and templates inside of others: a template stands alone, so a block is what it has here.
#include "base/error.h"
#include "jinja/interpreter_scopes.h"
#include "jinja/operators.h"

namespace arion::jinja {
namespace {

// The variable `self`: blocks by name.
class TemplateReference : public AttributeObject {
 public:
  using FindBlock = std::function<std::optional<Value>(std::string_view name)>;
  explicit TemplateReference(FindBlock find_block) : find_block_(std::move(find_block)) {}

  std::string_view type_name() const override { return "jinja2.runtime.TemplateReference"; }
  std::string repr() const override { return "<TemplateReference None>"; }
  std::optional<Value> attribute(Runtime&, std::string_view name) override {
    return find_block_(name);
  }
  Value call(Runtime&, const Arguments&) override {
    fail(ErrorCode::bad_input, "'TemplateReference' object is not callable");
  }

 private:
  FindBlock find_block_;
};

}  // namespace

Interpreter::Flow Interpreter::run(const Block& node, Position) {
  if (node.is_required) fail(ErrorCode::bad_input, "Required block '{}' not found", node.name);
  return run_block(node, node.frame, node.is_scoped ? active_ : root_);
}

Interpreter::Flow Interpreter::run_block(const Block& node, const Frame& frame, Activation* outer) {
  const Level level(*this);
  const ActivationSwitch inside(*this, node.unit, outer);
  enter(frame);
  if (node.super) {
    active_->slots[*node.super] =
        make_undefined(heap_, "there is no parent block called '" + node.name + "'.");
  }
  return execute(node.body);
}

Value Interpreter::make_self() {
  heap_.charge(64);  // what the function captured
  return Value(
      Kind::object,
      heap_.make<TemplateReference>([this](std::string_view name) -> std::optional<Value> {
        const auto found = tree_.blocks.find(name);
        if (found == tree_.blocks.end()) return std::nullopt;
        const Block* const block = found->second;
        return make_function(
            heap_, block->name, [this, block](Runtime&, const Arguments& arguments) {
              if (!arguments.positional.empty() || !arguments.named.empty()) {
                fail(ErrorCode::bad_input,
                     "BlockReference.__call__() takes 1 positional argument but {} were given",
                     1 + arguments.positional.size() + arguments.named.size());
              }
              Capture capture(*this);
              run_block(*block, block->self_frame, root_);
              return capture.take();
            });
      }));
}

// The errors of a Jinja2 environment without a loader.
Interpreter::Flow Interpreter::run(const LoadTemplate& node, Position at) {
  const Value source = evaluate(*node.source);
  at_ = at;
  const bool is_name = source.is_string() || source.is_undefined();
  if (node.is_include && !is_name) {
    if (!truth(source)) {
      if (node.ignores_missing) return Flow::normal;
      fail(ErrorCode::bad_input, "Tried to select from an empty list of templates.");
    }
    if (!is_iterable(source)) {
      fail(ErrorCode::bad_input, "'{}' object is not iterable", type_name(source));
    }
  }
  fail(ErrorCode::bad_input, "no loader for this environment specified");
}

}  // namespace arion::jinja
