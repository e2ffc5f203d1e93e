#include "jinja/scope.h"

#include "jinja/ast_walk.h"
#include "jinja/symbols.h"

namespace arion::jinja {
namespace {

// Copies of symbol tables: a template with many names and many branches may not take forever.
constexpr size_t kMaxCopied = 20'000'000;

// What one frame does with names, without looking into frames inside of it.
class FrameAnalysis {
 public:
  FrameAnalysis(Symbols& symbols, size_t& copied) : symbols_(&symbols), copied_(copied) {}

  void loads(Expr& expression) {
    if (const auto* name = std::get_if<Name>(&expression.node)) symbols_->load(name->name);
    for_each_child(expression, [&](Expr& child) { loads(child); });
  }

  void loads(const ExprPtr& expression) {
    if (expression) loads(*expression);
  }

  void stores(Expr& target) {
    if (const auto* name = std::get_if<Name>(&target.node)) return symbols_->store(name->name);
    if (const auto* attribute = std::get_if<NamespaceTarget>(&target.node)) {
      return symbols_->load(attribute->name);
    }
    for_each_child(target, [&](Expr& child) { stores(child); });
  }

  void parameters(Expr& target) {
    if (const auto* name = std::get_if<Name>(&target.node)) {
      symbols_->declare_parameter(name->name);
    }
    for_each_child(target, [&](Expr& child) { parameters(child); });
  }

  void body(Body& statements) {
    for (const auto& statement : statements) {
      std::visit([&](auto& node) { visit(node); }, statement->node);
    }
  }

 private:
  void visit(Output& node) {
    for (const ExprPtr& part : node.parts) loads(part);
  }
  void visit(Assign& node) {
    loads(node.value);
    stores(*node.target);
  }
  void visit(AssignBlock& node) { stores(*node.target); }
  void visit(For& node) { loads(node.iterable); }
  void visit(With& node) {
    for (const ExprPtr& value : node.values) loads(value);
  }
  void visit(Macro& node) { symbols_->store(node.definition.name); }
  void visit(CallBlock& node) { loads(node.call); }
  void visit(FilterBlock& node) { loads(node.filter); }
  void visit(Generation&) {}
  void visit(Block&) {}
  void visit(LoadTemplate& node) {
    loads(node.source);
    for (const std::string& target : node.targets) symbols_->store(target);
  }
  void visit(Break&) {}
  void visit(Continue&) {}

  // The first branch; those of `elif` together; the one of `else`.
  void visit(If& node) {
    loads(node.branches[0].test);
    std::vector<Symbols> ends;
    ends.push_back(branch([&] { body(node.branches[0].body); }));
    ends.push_back(branch([&] {
      for (size_t i = 1; i < node.branches.size(); ++i) {
        loads(node.branches[i].test);
        symbols_->join({branch([&] { body(node.branches[i].body); })});
      }
    }));
    ends.push_back(branch([&] { body(node.otherwise); }));
    symbols_->join(ends);
  }

  template <typename Visit>
  Symbols branch(Visit visit) {
    copied_ += symbols_->size();
    if (copied_ > kMaxCopied) {
      fail(ErrorCode::bad_input, "the template has too many names and branches");
    }
    Symbols copy = *symbols_;
    Symbols* const before = std::exchange(symbols_, &copy);
    visit();
    symbols_ = before;
    return copy;
  }

  Symbols* symbols_;
  size_t& copied_;
};

// Special names that the body of a macro or block uses without defining them.
class SpecialNames {
 public:
  SpecialNames(Body& body, std::initializer_list<std::string> names) : open_(names) { visit(body); }
  bool uses(std::string_view name) const { return used_.contains(name); }

 private:
  void load(Expr& expression) {
    if (const auto* name = std::get_if<Name>(&expression.node)) {
      if (open_.contains(name->name)) used_.insert(name->name);
    }
    for_each_child(expression, [&](Expr& child) { load(child); });
  }
  void load(const ExprPtr& expression) {
    if (expression) load(*expression);
  }
  void define(Expr& target) {
    if (const auto* name = std::get_if<Name>(&target.node)) open_.erase(name->name);
    for_each_child(target, [&](Expr& child) { define(child); });
  }
  void visit(Definition& definition) {
    for (auto& parameter : definition.parameters) {
      open_.erase(parameter.name);
      load(parameter.initial);
    }
    visit(definition.body);
  }
  void visit(Body& body) {
    for (const auto& statement : body) {
      std::visit([&](auto& node) { visit(node); }, statement->node);
    }
  }
  void visit(Output& node) {
    for (const ExprPtr& part : node.parts) load(part);
  }
  void visit(Assign& node) {
    define(*node.target);
    load(node.value);
  }
  void visit(AssignBlock& node) {
    define(*node.target);
    load(node.filter);
    visit(node.body);
  }
  void visit(For& node) {
    define(*node.target);
    load(node.iterable);
    visit(node.body);
    visit(node.otherwise);
    load(node.test);
  }
  void visit(If& node) {
    for (auto& branch : node.branches) {
      load(branch.test);
      visit(branch.body);
    }
    visit(node.otherwise);
  }
  void visit(With& node) {
    for (const ExprPtr& target : node.targets) define(*target);
    for (const ExprPtr& value : node.values) load(value);
    visit(node.body);
  }
  void visit(Macro& node) { visit(node.definition); }
  void visit(CallBlock& node) {
    load(node.call);
    visit(node.caller);
  }
  void visit(FilterBlock& node) {
    visit(node.body);
    load(node.filter);
  }
  void visit(Generation& node) { visit(node.body); }
  void visit(Block&) {}
  void visit(LoadTemplate& node) { load(node.source); }
  void visit(Break&) {}
  void visit(Continue&) {}

  std::set<std::string, std::less<>> open_;
  std::set<std::string, std::less<>> used_;
};

// Writes the places into the tree, frame by frame.
class Assigner {
 public:
  void run(Tree& tree) {
    Symbols root(nullptr, {&tree.unit, 0});
    root_ = &root;
    blocks_ = &tree.blocks;
    analysis(root).body(tree.body);
    body(tree.body, root, Certainty::certain);
    tree.frame = root.loads();
  }

 private:
  // Whether code is reached whenever its frame is: unknown filters are refused there at once.
  enum class Certainty : uint8_t { certain, conditional };

  FrameAnalysis analysis(Symbols& symbols) { return FrameAnalysis(symbols, copied_); }

  UnitScope inner_unit(const Symbols& symbols, Unit& unit) const {
    symbols.unit().unit->outlives_call = true;
    return {&unit, symbols.unit().depth + 1};
  }

  void expression(Expr& node, Symbols& symbols, Certainty certainty) {
    if (auto* name = std::get_if<Name>(&node.node)) {
      name->ref = symbols.ref(name->name);
    } else if (auto* attribute = std::get_if<NamespaceTarget>(&node.node)) {
      attribute->ref = symbols.ref(attribute->name);
    } else if (const auto* filter = std::get_if<FilterCall>(&node.node)) {
      if (filter->function == nullptr && certainty == Certainty::certain) {
        fail_at(node.at, "No filter named '{}'.", filter->name);
      }
    } else if (const auto* test = std::get_if<TestCall>(&node.node)) {
      if (test->function == nullptr && certainty == Certainty::certain) {
        fail_at(node.at, "No test named '{}'.", test->name);
      }
    } else if (std::holds_alternative<Conditional>(node.node)) {
      certainty = Certainty::conditional;
    }
    for_each_child(node, [&](Expr& child) { expression(child, symbols, certainty); });
  }

  void expression(const ExprPtr& node, Symbols& symbols, Certainty certainty) {
    if (node) expression(*node, symbols, certainty);
  }

  void target(Expr& node, Symbols& symbols) {
    const auto* name = std::get_if<Name>(&node.node);
    if (name != nullptr && name->name == "loop" && loops_ > 0) {
      fail_at(node.at, "Can't assign to special loop variable in for-loop target");
    }
    expression(node, symbols, Certainty::certain);
    for_each_child(node, [&](Expr& child) { target(child, symbols); });
  }

  void body(Body& statements, Symbols& symbols, Certainty certainty) {
    for (const auto& statement : statements) {
      std::visit([&](auto& node) { visit(node, symbols, certainty); }, statement->node);
    }
  }

  void visit(Output& node, Symbols& symbols, Certainty certainty) {
    for (const ExprPtr& part : node.parts) expression(part, symbols, certainty);
  }

  void visit(Assign& node, Symbols& symbols, Certainty certainty) {
    expression(node.value, symbols, certainty);
    target(*node.target, symbols);
  }

  void visit(AssignBlock& node, Symbols& symbols, Certainty) {
    Symbols inner(&symbols, symbols.unit());
    analysis(inner).loads(node.filter);
    analysis(inner).body(node.body);
    expression(node.filter, inner, Certainty::certain);
    body(node.body, inner, Certainty::certain);
    node.frame = inner.loads();
    target(*node.target, symbols);
  }

  void visit(If& node, Symbols& symbols, Certainty) {
    for (auto& branch : node.branches) {
      expression(branch.test, symbols, Certainty::conditional);
      body(branch.body, symbols, Certainty::conditional);
    }
    body(node.otherwise, symbols, Certainty::conditional);
  }

  void visit(For& node, Symbols& symbols, Certainty certainty) {
    expression(node.iterable, symbols, certainty);
    ++loops_;
    const UnitScope unit = node.is_recursive ? inner_unit(symbols, node.unit) : symbols.unit();
    Symbols inside(&symbols, unit);
    node.loop = {0, inside.declare_parameter("loop")};
    analysis(inside).parameters(*node.target);
    analysis(inside).body(node.body);
    target(*node.target, inside);
    body(node.body, inside, Certainty::certain);
    node.body_frame = inside.loads();
    if (node.test) {
      unit.unit->outlives_call = true;  // the loop variable evaluates the test when asked
      Symbols test(&symbols, unit);
      analysis(test).parameters(*node.test_target);
      analysis(test).loads(node.test);
      target(*node.test_target, test);
      expression(node.test, test, Certainty::certain);
      node.test_frame = test.loads();
    }
    Symbols otherwise(&symbols, unit);
    analysis(otherwise).body(node.otherwise);
    body(node.otherwise, otherwise, Certainty::certain);
    node.else_frame = otherwise.loads();
    --loops_;
  }

  void visit(With& node, Symbols& symbols, Certainty certainty) {
    for (const ExprPtr& value : node.values) expression(value, symbols, certainty);
    Symbols inner(&symbols, symbols.unit());
    for (const ExprPtr& item : node.targets) analysis(inner).parameters(*item);
    analysis(inner).body(node.body);
    for (const ExprPtr& item : node.targets) expression(*item, inner, Certainty::certain);
    body(node.body, inner, Certainty::certain);
    node.frame = inner.loads();
  }

  void define(Definition& definition, Symbols& symbols) {
    Symbols inner(&symbols, inner_unit(symbols, definition.unit));
    const SpecialNames special(definition.body, {"caller", "kwargs", "varargs"});
    std::set<std::string, std::less<>> given;
    for (auto& parameter : definition.parameters) {
      parameter.slot = inner.declare_parameter(parameter.name);
      given.insert(parameter.name);
      if (parameter.name != "caller") continue;
      definition.has_explicit_caller = true;
      if (special.uses("caller") && !parameter.initial) {
        fail(ErrorCode::bad_input,
             "When defining macros or call blocks the special \"caller\" argument must be omitted "
             "or be given a default.");
      }
    }
    const auto declare = [&](const char* name, std::optional<uint32_t>& slot) {
      if (!special.uses(name)) return;
      slot = given.contains(name) ? inner.ref(name).slot : inner.declare_parameter(name);
    };
    declare("caller", definition.caller);
    if (!given.contains("kwargs")) declare("kwargs", definition.kwargs);
    if (!given.contains("varargs")) declare("varargs", definition.varargs);
    for (auto& parameter : definition.parameters) analysis(inner).loads(parameter.initial);
    analysis(inner).body(definition.body);
    for (auto& parameter : definition.parameters) {
      expression(parameter.initial, inner, Certainty::certain);
    }
    body(definition.body, inner, Certainty::certain);
    definition.frame = inner.loads();
  }

  void visit(Macro& node, Symbols& symbols, Certainty) {
    define(node.definition, symbols);
    node.target = symbols.ref(node.definition.name);
  }

  void visit(CallBlock& node, Symbols& symbols, Certainty certainty) {
    define(node.caller, symbols);
    expression(node.call, symbols, certainty);
  }

  void visit(FilterBlock& node, Symbols& symbols, Certainty) {
    Symbols inner(&symbols, symbols.unit());
    analysis(inner).loads(node.filter);
    analysis(inner).body(node.body);
    expression(node.filter, inner, Certainty::certain);
    body(node.body, inner, Certainty::certain);
    node.frame = inner.loads();
  }

  void visit(Generation& node, Symbols& symbols, Certainty) {
    Symbols inner(&symbols, symbols.unit());
    analysis(inner).body(node.body);
    body(node.body, inner, Certainty::certain);
    node.frame = inner.loads();
  }

  // Begins with a copy of the variables of the template, if it is scoped also of loops around it.
  void visit(Block& node, Symbols& symbols, Certainty) {
    const Symbols& outer = node.is_scoped ? symbols : *root_;
    Symbols inner(nullptr, inner_unit(outer, node.unit));
    if (SpecialNames(node.body, {"super"}).uses("super")) {
      node.super = inner.declare_parameter("super");
    }
    analysis(inner).body(node.body);
    body(node.body, inner, Certainty::certain);
    node.frame = exported(inner.loads(), outer);
    node.self_frame = exported(inner.loads(), *root_);
    blocks_->emplace(node.name, &node);
  }

  // What a block resolves, for a unit directly inside of that of `outer`.
  static Frame exported(Frame frame, const Symbols& outer) {
    for (SlotLoad& load : frame) {
      if (load.action != SlotLoad::Action::resolve) continue;
      const auto ref = outer.find_ref(load.name);
      if (!ref) continue;
      load.action = SlotLoad::Action::exported;
      load.outer = {ref->hops + 1, ref->slot};
    }
    return frame;
  }

  void visit(LoadTemplate& node, Symbols& symbols, Certainty certainty) {
    expression(node.source, symbols, certainty);
  }

  void visit(Break&, Symbols&, Certainty) {}
  void visit(Continue&, Symbols&, Certainty) {}

  Symbols* root_ = nullptr;
  std::map<std::string, const Block*, std::less<>>* blocks_ = nullptr;
  uint32_t loops_ = 0;
  size_t copied_ = 0;
};

}  // namespace

void assign_slots(Tree& tree) {
  Assigner().run(tree);
}

}  // namespace arion::jinja
