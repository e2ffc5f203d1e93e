// Nodes of expressions. Trees are walked recursively, also when they are freed, so that their
// height is limited.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "jinja/ast.h"

namespace arion::jinja {

constexpr uint32_t kMaxExpressionHeight = 400;

// The height of the highest of these trees; null ones have none.
inline uint32_t height_of(const ExprPtr& node) {
  return node ? node->height : 0;
}

template <typename... Nodes>
uint32_t height_of(const ExprPtr& first, const Nodes&... rest) {
  return std::max({height_of(first), height_of(rest)...});
}

inline uint32_t height_of(const std::vector<ExprPtr>& nodes) {
  uint32_t height = 0;
  for (const ExprPtr& node : nodes) height = std::max(height, node->height);
  return height;
}

inline uint32_t height_of(const CallArguments& arguments) {
  uint32_t height = std::max(height_of(arguments.positional),
                             height_of(arguments.more_positional, arguments.more_named));
  for (const auto& [name, value] : arguments.named) height = std::max(height, value->height);
  return height;
}

// `height_below`: of what `node` holds. Throws Error where the template has too high a tree.
template <typename Node>
ExprPtr make_expression(Position at, Node node, uint32_t height_below) {
  if (height_below >= kMaxExpressionHeight) {
    fail_at(at, "an expression has more than {} levels of operators", kMaxExpressionHeight);
  }
  auto expression = std::make_unique<Expr>();
  expression->node = std::move(node);
  expression->at = at;
  expression->height = height_below + 1;
  return expression;
}

}  // namespace arion::jinja
