// Visits the direct children of an expression.
#pragma once
#include "jinja/ast.h"

namespace arion::jinja {

namespace detail {

template <typename Visit>
void visit_if(ExprPtr& child, Visit visit) {
  if (child) visit(*child);
}

template <typename Visit>
void visit_all(std::vector<ExprPtr>& children, Visit visit) {
  for (ExprPtr& child : children) visit(*child);
}

template <typename Visit>
void visit_arguments(CallArguments& arguments, Visit visit) {
  visit_all(arguments.positional, visit);
  for (auto& [name, value] : arguments.named) visit(*value);
  visit_if(arguments.more_positional, visit);
  visit_if(arguments.more_named, visit);
}

template <typename Visit>
struct ChildVisitor {
  Visit visit;

  void operator()(Constant&) const {}
  void operator()(Name&) const {}
  void operator()(NamespaceTarget&) const {}
  void operator()(TupleLiteral& node) const { visit_all(node.items, visit); }
  void operator()(ListLiteral& node) const { visit_all(node.items, visit); }
  void operator()(DictLiteral& node) const {
    for (auto& [key, value] : node.entries) {
      visit(*key);
      visit(*value);
    }
  }
  void operator()(Conditional& node) const {
    visit(*node.test);
    visit(*node.then);
    visit_if(node.otherwise, visit);
  }
  void operator()(Logical& node) const {
    visit(*node.left);
    visit(*node.right);
  }
  void operator()(Not& node) const { visit(*node.operand); }
  void operator()(Sign& node) const { visit(*node.operand); }
  void operator()(Binary& node) const {
    visit(*node.left);
    visit(*node.right);
  }
  void operator()(Concat& node) const { visit_all(node.items, visit); }
  void operator()(Compare& node) const {
    visit(*node.first);
    for (auto& [comparison, operand] : node.rest) visit(*operand);
  }
  void operator()(Attribute& node) const { visit(*node.object); }
  void operator()(Item& node) const {
    visit(*node.object);
    visit(*node.index);
  }
  void operator()(SliceOf& node) const {
    visit(*node.object);
    visit_if(node.start, visit);
    visit_if(node.stop, visit);
    visit_if(node.step, visit);
  }
  void operator()(Call& node) const {
    visit(*node.callee);
    visit_arguments(node.arguments, visit);
  }
  void operator()(FilterCall& node) const {
    visit_if(node.subject, visit);
    visit_arguments(node.arguments, visit);
  }
  void operator()(TestCall& node) const {
    visit(*node.subject);
    visit_arguments(node.arguments, visit);
  }
};

}  // namespace detail

template <typename Visit>
void for_each_child(Expr& expression, Visit visit) {
  std::visit(detail::ChildVisitor<Visit>{visit}, expression.node);
}

}  // namespace arion::jinja
