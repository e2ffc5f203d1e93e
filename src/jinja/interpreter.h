// Walks the syntax tree of a template and collects its text.
#pragma once
#include <map>
#include <string>

#include "jinja/ast.h"
#include "jinja/runtime.h"

namespace arion::jinja {

// Slots of one call of a unit.
struct Activation : Object {
  Activation(uint32_t slot_count, Activation* outer) : slots(slot_count), parent(outer) {}
  std::vector<Value> slots;
  Activation* parent;
};

class Interpreter : public Runtime {
 public:
  // `tree` and `variables` (a dict) must outlive the interpreter.
  Interpreter(const Tree& tree, const Value& variables, const Limits& limits, LocalTime now);

  // Throws Error{bad_input} naming line and column.
  Text run();

  Heap& heap() override { return heap_; }
  Value call(const Value& callee, const Arguments& arguments) override;
  LocalTime now() const override { return now_; }

 private:
  enum class Flow : uint8_t { normal, next_iteration, leave_loop };
  class Level;
  class Capture;
  class ActivationSwitch;

  // Statements.
  Flow execute(const Body& body);
  Flow execute(const Stmt& statement);
  Flow run(const Output& node, Position at);
  Flow run(const Assign& node, Position at);
  Flow run(const AssignBlock& node, Position at);
  Flow run(const If& node, Position at);
  Flow run(const For& node, Position at);
  Flow run(const With& node, Position at);
  Flow run(const Macro& node, Position at);
  Flow run(const CallBlock& node, Position at);
  Flow run(const FilterBlock& node, Position at);
  Flow run(const Generation& node, Position at);
  Flow run(const Block& node, Position at);
  Flow run(const LoadTemplate& node, Position at);
  Flow run(const Break&, Position) { return Flow::leave_loop; }
  Flow run(const Continue&, Position) { return Flow::next_iteration; }

  // A block in an activation of its own inside of `outer`.
  Flow run_block(const Block& node, const Frame& frame, Activation* outer);
  Value make_self();

  Flow loop_over(const For& node, const Value& iterable, int64_t depth0, Activation* outer);
  Iterator filtered(const For& node, Iterator source);
  Value run_recursive(const For& node, const Value& iterable, int64_t depth0, Activation* outer);

  Value make_macro(const Definition& definition);
  Value invoke(const Definition& definition, Activation* outer, const Arguments& arguments);
  void bind_parameters(const Definition& definition, const Arguments& arguments,
                       std::vector<Value>& slots);

  // Expressions.
  Value evaluate(const Expr& expression);
  Value evaluate_or_none(const ExprPtr& expression);
  Value value_of(const Constant& node, Position) { return node.value; }
  Value value_of(const Name& node, Position at);
  Value value_of(const NamespaceTarget& node, Position at);
  Value value_of(const TupleLiteral& node, Position at);
  Value value_of(const ListLiteral& node, Position at);
  Value value_of(const DictLiteral& node, Position at);
  Value value_of(const Conditional& node, Position at);
  Value value_of(const Logical& node, Position at);
  Value value_of(const Not& node, Position at);
  Value value_of(const Sign& node, Position at);
  Value value_of(const Binary& node, Position at);
  Value value_of(const Concat& node, Position at);
  Value value_of(const Compare& node, Position at);
  Value value_of(const Attribute& node, Position at);
  Value value_of(const Item& node, Position at);
  Value value_of(const SliceOf& node, Position at);
  Value value_of(const Call& node, Position at);
  Value value_of(const FilterCall& node, Position at);
  Value value_of(const TestCall& node, Position at);

  bool compares(Comparison comparison, const Value& a, const Value& b);
  std::vector<Value> evaluate_all(const std::vector<ExprPtr>& expressions);
  Arguments evaluate(const CallArguments& arguments);
  Value apply_filter(const FilterCall& node, const Value& subject, Position at);
  // A chain of filters around the text of a block.
  Value apply_block_filter(const Expr& filter, const Value& text);

  void assign(const Expr& target, const Value& value);
  void unpack(const TupleLiteral& targets, const Value& value);
  Value& slot(Ref ref);
  void enter(const Frame& frame);
  Value resolve(const std::string& name);
  void emit(const Value& value);

  const Tree& tree_;
  const DictObject& variables_;
  const LocalTime now_;
  Heap heap_;
  std::map<std::string, Value> globals_;  // that were asked for
  Activation* root_ = nullptr;            // of the template itself
  Activation* active_ = nullptr;
  Text* out_ = nullptr;
  uint32_t depth_ = 0;
  Position at_;  // of what is being done, for messages
};

}  // namespace arion::jinja
