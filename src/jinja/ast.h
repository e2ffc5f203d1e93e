// The syntax tree of a template. Names carry where their value is kept once scope.h has seen them.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "jinja/builtins.h"
#include "jinja/numbers.h"
#include "jinja/token.h"
#include "jinja/value.h"

namespace arion::jinja {

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using Body = std::vector<std::unique_ptr<Stmt>>;

// A slot of the activation `hops` definitions further out.
struct Ref {
  uint32_t hops = 0, slot = 0;
};

// What the slots of a frame hold when it is entered.
struct SlotLoad {
  enum class Action : uint8_t {
    resolve,    // the variable of the context with this name
    alias,      // the value of the same name further out
    clear,      // nothing yet
    exported,   // the value of `outer` where it has one, else that of the context
    parameter,  // whoever enters the frame sets it
  };
  uint32_t slot;
  Action action;
  Ref outer;         // alias, exported
  std::string name;  // resolve, exported
};
using Frame = std::vector<SlotLoad>;

// Code with slots of its own: a template, macro, call block, block or recursive loop.
struct Unit {
  uint32_t slot_count = 0;
  bool outlives_call = false;  // something made in it may look at its slots later
};

// Expressions.

struct Constant {
  Value value;
};
struct Name {
  std::string name;
  Value name_value;
  Ref ref;
};
// `namespace.attribute` as a target.
struct NamespaceTarget {
  std::string name;
  Value attribute;
  Ref ref;
};
struct TupleLiteral {
  std::vector<ExprPtr> items;
};
struct ListLiteral {
  std::vector<ExprPtr> items;
};
struct DictLiteral {
  std::vector<std::pair<ExprPtr, ExprPtr>> entries;
};
struct Conditional {
  ExprPtr test, then, otherwise;  // otherwise may be null
};
struct Logical {
  bool is_and;
  ExprPtr left, right;
};
struct Not {
  ExprPtr operand;
};
struct Sign {
  char sign;
  ExprPtr operand;
};
struct Binary {
  BinaryOp op;
  ExprPtr left, right;
};
struct Concat {
  std::vector<ExprPtr> items;
};
enum class Comparison : uint8_t {
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in
};
struct Compare {
  ExprPtr first;
  std::vector<std::pair<Comparison, ExprPtr>> rest;
};
struct Attribute {
  ExprPtr object;
  Value name;
};
struct Item {
  ExprPtr object, index;
};
struct SliceOf {
  ExprPtr object, start, stop, step;  // all but the object may be null
};
struct CallArguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
  ExprPtr more_positional, more_named;  // *x and **x, or null
};
struct Call {
  ExprPtr callee;
  CallArguments arguments;
};
struct FilterCall {
  ExprPtr subject;  // null: the text of a block
  std::string name;
  Filter function;  // null: unknown, an error when it is reached
  CallArguments arguments;
};
struct TestCall {
  ExprPtr subject;
  std::string name;
  Test function;  // likewise
  CallArguments arguments;
};

struct Expr {
  std::variant<Constant, Name, NamespaceTarget, TupleLiteral, ListLiteral, DictLiteral, Conditional,
               Logical, Not, Sign, Binary, Concat, Compare, Attribute, Item, SliceOf, Call,
               FilterCall, TestCall>
      node;
  Position at;
  uint32_t height = 1;  // of the tree; limited, since trees are walked recursively
};

// Statements.

struct Output {
  std::vector<ExprPtr> parts;
};
struct Assign {
  ExprPtr target, value;
};
struct AssignBlock {
  ExprPtr target;
  ExprPtr filter;  // innermost subject null; or null
  Body body;
  Frame frame;
};
struct If {
  struct Branch {
    ExprPtr test;
    Body body;
  };
  std::vector<Branch> branches;
  Body otherwise;
};
struct For {
  ExprPtr target, iterable;
  ExprPtr test;         // or null
  ExprPtr test_target;  // the target once more, for the test's own frame
  bool is_recursive = false;
  Body body, otherwise;
  Frame test_frame, body_frame, else_frame;
  Ref loop;
  Unit unit;  // of a recursive loop
};
struct With {
  std::vector<ExprPtr> targets, values;
  Body body;
  Frame frame;
};
// A macro, or what a call block passes as `caller`.
struct Definition {
  struct Parameter {
    std::string name;
    ExprPtr initial;  // or null
    uint32_t slot = 0;
  };
  std::string name;  // empty: of a call block
  std::vector<Parameter> parameters;
  std::optional<uint32_t> caller, kwargs, varargs;  // slots, where the body uses them
  bool has_explicit_caller = false;
  Body body;
  Unit unit;
  Frame frame;
};
struct Macro {
  Definition definition;
  Ref target;
};
struct CallBlock {
  ExprPtr call;  // a Call
  Definition caller;
};
struct FilterBlock {
  ExprPtr filter;
  Body body;
  Frame frame;
};
// {% generation %}: marks what the assistant said, for training; rendered as it is.
struct Generation {
  Body body;
  Frame frame;
};
struct Block {
  std::string name;
  bool is_scoped = false;    // sees the variables around it, not only those of the template
  bool is_required = false;  // only a template that extends this one could fill it
  Body body;
  Unit unit;
  std::optional<uint32_t> super;  // its slot, where the body uses it
  Frame frame;                    // where it stands
  Frame self_frame;               // when called as self.name()
};
// Include, import or extend: another template, of which there is none.
struct LoadTemplate {
  ExprPtr source;
  std::vector<std::string> targets;  // that an import defines
  bool is_include = false;           // may have a list of names
  bool ignores_missing = false;
};
struct Break {};
struct Continue {};

struct Stmt {
  std::variant<Output, Assign, AssignBlock, If, For, With, Macro, CallBlock, FilterBlock,
               Generation, Block, LoadTemplate, Break, Continue>
      node;
  Position at;
};

struct Tree {
  Body body;
  std::map<std::string, const Block*, std::less<>> blocks;
  Unit unit;
  Frame frame;
};

}  // namespace arion::jinja
