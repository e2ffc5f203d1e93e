#include "graph/graph.h"

#include "base/check.h"

namespace arion {

std::vector<int> definitions(const Graph& graph) {
  std::vector<int> defined_by(graph.values.size(), -1);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId out : graph.nodes[n].outputs) {
      defined_by[static_cast<size_t>(out.index)] = static_cast<int>(n);
    }
  }
  return defined_by;
}

std::vector<std::vector<int>> uses(const Graph& graph) {
  std::vector<std::vector<int>> used_by(graph.values.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId in : graph.nodes[n].inputs) {
      if (in) used_by[static_cast<size_t>(in.index)].push_back(static_cast<int>(n));
    }
  }
  return used_by;
}

bool writes_kv(const Node& node) {
  return node.kind == OpKind::kv_write ||
         (node.kind == OpKind::linear_head && node.attributes.role != HeadRole::query);
}

bool feeds_attention(const Node& writer, const Node& attention) {
  return attention.kind == OpKind::attention && writes_kv(writer) &&
         attention.attributes.attention.kv_group == writer.attributes.kv_group &&
         attention.attributes.attention.kv_layer == writer.attributes.kv_layer;
}

void sort_nodes(Graph& graph) {
  const size_t count = graph.nodes.size();
  const std::vector<int> defined_by = definitions(graph);
  std::vector<bool> is_placed(count, false);

  auto is_ready = [&](size_t n) {
    const Node& node = graph.nodes[n];
    for (ValueId in : node.inputs) {
      if (!in) continue;
      const int definer = defined_by[static_cast<size_t>(in.index)];
      CHECK(definer >= 0);
      if (!is_placed[static_cast<size_t>(definer)]) return false;
    }
    for (size_t w = 0; w < count && node.kind == OpKind::attention; ++w) {
      if (!is_placed[w] && feeds_attention(graph.nodes[w], node)) return false;
    }
    return true;
  };

  std::vector<size_t> order;
  size_t first_open = 0;
  while (order.size() < count) {
    while (is_placed[first_open]) ++first_open;
    size_t n = first_open;
    while (n < count && (is_placed[n] || !is_ready(n))) ++n;
    CHECK(n < count);  // otherwise a cycle
    is_placed[n] = true;
    order.push_back(n);
  }
  std::vector<Node> sorted;
  sorted.reserve(count);
  for (size_t n : order) sorted.push_back(std::move(graph.nodes[n]));
  graph.nodes = std::move(sorted);
}

}  // namespace arion
