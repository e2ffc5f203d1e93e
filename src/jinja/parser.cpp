// Statements.
#include "jinja/parser.h"

#include <algorithm>
#include <set>

#include "jinja/expression_parser.h"
#include "jinja/lexer.h"
#include "jinja/scope.h"
#include "jinja/text_ops.h"

namespace arion::jinja {
namespace {

constexpr uint32_t kMaxBlockNesting = 80;

using EndNames = std::initializer_list<std::string_view>;

class Parser {
 public:
  Parser(std::string_view source, Heap& heap)
      : tokens_(tokenize(source)), heap_(heap), expressions_(tokens_, heap) {}

  Body run() { return body({}); }

 private:
  bool is_end(EndNames ends) const {
    return std::ranges::any_of(ends, [&](std::string_view name) { return tokens_.is_name(name); });
  }

  // Up to a tag with one of the names, the name of which is then the current token.
  Body body(EndNames ends) {
    if (++nesting_ > kMaxBlockNesting) {
      fail_at(tokens_.current().at, "blocks are nested more than {} levels deep", kMaxBlockNesting);
    }
    Body statements;
    Output output;
    Position output_at;
    const auto flush = [&] {
      if (output.parts.empty()) return;
      add(statements, output_at, std::move(output));
      output = {};
    };
    const auto add_part = [&](ExprPtr part) {
      if (output.parts.empty()) output_at = part->at;
      output.parts.push_back(std::move(part));
    };
    for (;;) {
      const Token& token = tokens_.current();
      if (token.kind == TokenKind::data) {
        auto data = std::make_unique<Expr>();
        data->node = Constant{make_string(heap_, token.text)};
        data->at = token.at;
        tokens_.next();
        add_part(std::move(data));
      } else if (token.kind == TokenKind::variable_begin) {
        tokens_.next();
        add_part(expressions_.tuple());
        tokens_.expect(TokenKind::variable_end);
      } else if (token.kind == TokenKind::block_begin) {
        flush();
        tokens_.next();
        if (is_end(ends)) break;
        statement(statements);
        tokens_.expect(TokenKind::block_end);
      } else {
        if (ends.size() > 0) {
          fail_at(token.at,
                  "Unexpected end of template. The innermost block that needs to be "
                  "closed is '{}'.",
                  tags_.empty() ? "" : tags_.back());
        }
        flush();
        break;
      }
    }
    --nesting_;
    return statements;
  }

  // The rest of a tag, then its body. The name that ended it is left as the current token.
  Body block_body(EndNames ends) {
    tokens_.skip_symbol(":");
    tokens_.expect(TokenKind::block_end);
    return body(ends);
  }

  Body block_body_to(std::string_view end) {
    Body statements = block_body({end});
    tokens_.next();
    return statements;
  }

  // The body of something that runs as a function of its own: no loop around it can be left.
  Body function_body_to(std::string_view end) {
    const uint32_t loops = std::exchange(loops_, 0);
    Body statements = block_body_to(end);
    loops_ = loops;
    return statements;
  }

  template <typename Node>
  static void add(Body& statements, Position at, Node node) {
    auto statement = std::make_unique<Stmt>();
    statement->node = std::move(node);
    statement->at = at;
    statements.push_back(std::move(statement));
  }

  void statement(Body& out) {
    const Token token = tokens_.current();
    if (token.kind != TokenKind::name) fail_at(token.at, "tag name expected");
    tags_.push_back(token.text);
    const std::string_view tag = token.text;
    tokens_.next();
    if (tag == "set") {
      set(out, token.at);
    } else if (tag == "if") {
      add(out, token.at, if_statement());
    } else if (tag == "for") {
      add(out, token.at, for_statement());
    } else if (tag == "with") {
      add(out, token.at, with());
    } else if (tag == "macro") {
      add(out, token.at, macro());
    } else if (tag == "call") {
      add(out, token.at, call_block(token.at));
    } else if (tag == "filter") {
      FilterBlock block{expressions_.block_filter(), {}, {}};
      block.body = block_body_to("endfilter");
      add(out, token.at, std::move(block));
    } else if (tag == "generation") {
      add(out, token.at, Generation{function_body_to("endgeneration"), {}});
    } else if (tag == "print") {
      add(out, token.at, print());
    } else if (tag == "block") {
      add(out, token.at, block());
    } else if (tag == "include") {
      add(out, token.at, include());
    } else if (tag == "import") {
      add(out, token.at, import());
    } else if (tag == "from") {
      add(out, token.at, from_import());
    } else if (tag == "extends") {
      add(out, token.at, extends(token.at));
    } else if (tag == "break" || tag == "continue") {
      if (loops_ == 0) fail_at(token.at, "'{}' outside of a loop", tag);
      if (tag == "break") {
        add(out, token.at, Break{});
      } else {
        add(out, token.at, Continue{});
      }
    } else {
      unknown_tag(token);
    }
    tags_.pop_back();
  }

  [[noreturn]] void unknown_tag(const Token& token) const {
    if (token.text == "autoescape") {
      fail_at(token.at, "the tag 'autoescape' is not supported: a prompt is no HTML");
    }
    fail_at(token.at, "Encountered unknown tag '{}'.", token.text);
  }

  void set(Body& out, Position at) {
    ExprPtr target = expressions_.target_or_attribute();
    if (tokens_.skip_symbol("=")) {
      return add(out, at, Assign{std::move(target), expressions_.tuple()});
    }
    AssignBlock block{std::move(target), nullptr, {}, {}};
    if (tokens_.skip_symbol("|")) block.filter = expressions_.block_filter();
    block.body = block_body_to("endset");
    add(out, at, std::move(block));
  }

  If if_statement() {
    If node;
    for (;;) {
      ExprPtr test = expressions_.tuple(ExpressionParser::IfElse::refused);
      node.branches.push_back({std::move(test), block_body({"elif", "else", "endif"})});
      const Token& end = tokens_.next();
      if (end.text == "elif") continue;
      if (end.text == "else") node.otherwise = block_body_to("endif");
      return node;
    }
  }

  static void refuse_name(const Expr& target, std::string_view name) {
    if (const auto* tuple = std::get_if<TupleLiteral>(&target.node)) {
      for (const ExprPtr& item : tuple->items) refuse_name(*item, name);
    }
    const auto* found = std::get_if<Name>(&target.node);
    if (found != nullptr && found->name == name) {
      fail_at(target.at, "Can't assign to special loop variable in for-loop target");
    }
  }

  ExprPtr copy_target(const Expr& target) const {
    auto copy = std::make_unique<Expr>();
    copy->at = target.at;
    if (const auto* name = std::get_if<Name>(&target.node)) {
      copy->node = *name;
      return copy;
    }
    TupleLiteral items;
    for (const ExprPtr& item : std::get<TupleLiteral>(target.node).items) {
      items.items.push_back(copy_target(*item));
    }
    copy->node = std::move(items);
    return copy;
  }

  For for_statement() {
    For node;
    node.target = expressions_.target("in");
    refuse_name(*node.target, "loop");
    tokens_.expect_name("in");
    node.iterable = expressions_.tuple(ExpressionParser::IfElse::refused, "recursive");
    if (tokens_.skip_name("if")) {
      node.test = expressions_.expression();
      node.test_target = copy_target(*node.target);
    }
    node.is_recursive = tokens_.skip_name("recursive");
    ++loops_;
    node.body = block_body({"endfor", "else"});
    --loops_;
    if (tokens_.next().text == "else") {
      // That of a recursive loop is part of its function.
      const uint32_t loops = node.is_recursive ? std::exchange(loops_, 0) : loops_;
      node.otherwise = block_body_to("endfor");
      loops_ = loops;
    }
    return node;
  }

  With with() {
    With node;
    while (!tokens_.is(TokenKind::block_end)) {
      if (!node.targets.empty()) tokens_.expect_symbol(",");
      node.targets.push_back(expressions_.target());
      tokens_.expect_symbol("=");
      node.values.push_back(expressions_.expression());
    }
    node.body = block_body_to("endwith");
    return node;
  }

  void signature(Definition& definition) {
    tokens_.expect_symbol("(");
    bool has_initial = false;
    while (!tokens_.is_symbol(")")) {
      if (!definition.parameters.empty()) tokens_.expect_symbol(",");
      const Position at = tokens_.current().at;
      Definition::Parameter parameter{expressions_.target_name(), nullptr};
      for (const auto& other : definition.parameters) {
        if (other.name == parameter.name) {
          fail_at(at, "duplicate argument '{}' in a macro", parameter.name);
        }
      }
      if (tokens_.skip_symbol("=")) {
        parameter.initial = expressions_.expression();
        has_initial = true;
      } else if (has_initial) {
        fail_at(at, "non-default argument follows default argument");
      }
      definition.parameters.push_back(std::move(parameter));
    }
    tokens_.expect_symbol(")");
  }

  Macro macro() {
    Macro node;
    node.definition.name = expressions_.target_name();
    signature(node.definition);
    node.definition.body = function_body_to("endmacro");
    return node;
  }

  CallBlock call_block(Position at) {
    CallBlock node;
    if (tokens_.is_symbol("(")) signature(node.caller);
    node.call = expressions_.expression();
    if (!std::holds_alternative<Call>(node.call->node)) fail_at(at, "expected call");
    node.caller.body = function_body_to("endcall");
    return node;
  }

  Output print() {
    Output node;
    while (!tokens_.is(TokenKind::block_end)) {
      if (!node.parts.empty()) tokens_.expect_symbol(",");
      node.parts.push_back(expressions_.expression());
    }
    return node;
  }

  Block block() {
    const Token name = tokens_.expect(TokenKind::name);
    if (!blocks_.insert(name.text).second) {
      fail_at(name.at, "block '{}' defined twice", name.text);
    }
    Block node;
    node.name = name.text;
    node.is_scoped = tokens_.skip_name("scoped");
    node.is_required = tokens_.skip_name("required");
    if (tokens_.is_symbol("-")) {
      fail_at(tokens_.current().at,
              "Block names in Jinja have to be valid Python identifiers and may not contain "
              "hyphens, use an underscore instead.");
    }
    node.body = function_body_to("endblock");
    if (node.is_required && !std::ranges::all_of(node.body, is_white_space)) {
      fail_at(name.at, "Required blocks can only contain comments or whitespace");
    }
    tokens_.skip_name(name.text);
    return node;
  }

  static bool is_white_space(const std::unique_ptr<Stmt>& statement) {
    const auto* output = std::get_if<Output>(&statement->node);
    return output != nullptr && std::ranges::all_of(output->parts, [](const ExprPtr& part) {
             const auto* constant = std::get_if<Constant>(&part->node);
             return constant != nullptr && strip(constant->value.text(), Sides::both).empty();
           });
  }

  // "with context" and "without context": without another template they mean nothing.
  bool skip_context() {
    const bool is_found = (tokens_.is_name("with") || tokens_.is_name("without")) &&
                          tokens_.look().is_name("context");
    if (is_found) {
      tokens_.next();
      tokens_.next();
    }
    return is_found;
  }

  LoadTemplate include() {
    LoadTemplate node{expressions_.expression(), {}, true, false};
    if (tokens_.is_name("ignore") && tokens_.look().is_name("missing")) {
      node.ignores_missing = true;
      tokens_.next();
      tokens_.next();
    }
    skip_context();
    return node;
  }

  LoadTemplate import() {
    LoadTemplate node{expressions_.expression(), {}, false, false};
    tokens_.expect_name("as");
    node.targets.push_back(expressions_.target_name());
    skip_context();
    return node;
  }

  LoadTemplate from_import() {
    LoadTemplate node{expressions_.expression(), {}, false, false};
    tokens_.expect_name("import");
    do {
      if (!tokens_.is(TokenKind::name)) tokens_.expect(TokenKind::name);
      if (skip_context()) break;
      const Position at = tokens_.current().at;
      std::string name = expressions_.target_name();
      if (name.starts_with('_')) {
        fail_at(at, "names starting with an underline can not be imported");
      }
      if (tokens_.skip_name("as")) name = expressions_.target_name();
      node.targets.push_back(std::move(name));
    } while (!skip_context() && tokens_.skip_symbol(","));
    return node;
  }

  LoadTemplate extends(Position at) {
    // Of the tags that are open, the last one is this.
    if (!std::all_of(tags_.begin(), tags_.end() - 1, [](const auto& tag) { return tag == "if"; })) {
      fail_at(at, "cannot use extend from a non top-level scope");
    }
    return {expressions_.expression(), {}, false, false};
  }

  TokenStream tokens_;
  Heap& heap_;
  ExpressionParser expressions_;
  std::vector<std::string> tags_;  // that are open
  std::set<std::string> blocks_;
  uint32_t nesting_ = 0;
  uint32_t loops_ = 0;  // around, in the same function
};

}  // namespace

Tree parse_template(std::string_view source, Heap& heap) {
  Tree tree;
  tree.body = Parser(source, heap).run();
  assign_slots(tree);
  return tree;
}

}  // namespace arion::jinja
