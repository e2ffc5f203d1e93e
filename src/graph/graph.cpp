// Who defines and who uses a value, and an order that respects both and the KV writes.
#include "graph/graph.h"

#include <functional>
#include <map>
#include <queue>
#include <utility>

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

void sort_nodes(Graph& graph) {
  const size_t count = graph.nodes.size();
  const std::vector<int> defined_by = definitions(graph);
  std::map<std::pair<int, int>, std::vector<size_t>> writers;  // by KV group and layer
  for (size_t n = 0; n < count; ++n) {
    const Attributes& a = graph.nodes[n].attributes;
    if (writes_kv(graph.nodes[n])) writers[{a.kv_group, a.kv_layer}].push_back(n);
  }

  std::vector<int> missing(count, 0);  // dependencies not placed yet
  std::vector<std::vector<size_t>> followers(count);
  auto depend = [&](size_t on, size_t n) {
    followers[on].push_back(n);
    ++missing[n];
  };
  for (size_t n = 0; n < count; ++n) {
    const Node& node = graph.nodes[n];
    for (ValueId in : node.inputs) {
      if (!in) continue;
      const int definer = defined_by[static_cast<size_t>(in.index)];
      CHECK(definer >= 0);
      depend(static_cast<size_t>(definer), n);
    }
    if (node.kind != OpKind::attention) continue;
    const AttentionAttributes& a = node.attributes.attention;
    for (size_t writer : writers[{a.kv_group, a.kv_layer}]) depend(writer, n);
  }

  // Of the nodes that could come next, always the first in the given order.
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t n = 0; n < count; ++n) {
    if (missing[n] == 0) ready.push(n);
  }
  std::vector<Node> sorted;
  sorted.reserve(count);
  while (!ready.empty()) {
    const size_t n = ready.top();
    ready.pop();
    sorted.push_back(std::move(graph.nodes[n]));
    for (size_t follower : followers[n]) {
      if (--missing[follower] == 0) ready.push(follower);
    }
  }
  CHECK(sorted.size() == count);  // otherwise a cycle
  graph.nodes = std::move(sorted);
}

}  // namespace arion
