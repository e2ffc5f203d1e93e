// Moves select_rows from the end of the network to just behind the last KV write: the attention,
// residuals and feed-forward of the last layer then run only on the rows that want logits.
#include <set>

#include "graph/pass.h"

namespace arion {
namespace {

void run(Graph& graph, const PassOptions&) {
  int select = -1, last_write = -1;
  for (int n = 0; n < static_cast<int>(graph.nodes.size()); ++n) {
    const Node& node = graph.nodes[static_cast<size_t>(n)];
    if (node.kind == OpKind::select_rows) select = n;
    if (writes_kv(node)) last_write = n;
  }
  if (select < 0 || last_write < 0) return;

  // Every value the selected row depends on after the last write is computed for its row alone, so
  // the nodes from the attention on can run on selected rows; their other inputs are selected.
  const auto defined_by = definitions(graph);
  const ValueId last = graph.nodes[static_cast<size_t>(select)].inputs[0];
  std::set<int> moved;
  std::vector<int> open = {defined_by[static_cast<size_t>(last.index)]};
  if (open[0] <= last_write) return;
  while (!open.empty()) {
    const int n = open.back();
    open.pop_back();
    if (n <= last_write || !moved.insert(n).second) continue;
    for (ValueId in : graph.nodes[static_cast<size_t>(n)].inputs) {
      open.push_back(defined_by[static_cast<size_t>(in.index)]);
    }
  }
  std::vector<ValueId> selected(graph.values.size());
  std::vector<Node> nodes;
  for (int n = 0; n < static_cast<int>(graph.nodes.size()); ++n) {
    Node& node = graph.nodes[static_cast<size_t>(n)];
    if (n == select) continue;
    if (moved.contains(n)) {
      for (ValueId& in : node.inputs) {
        if (graph.value(in).rows == RowsKind::output) continue;
        ValueId& to = selected[static_cast<size_t>(in.index)];
        if (!to) {
          Value value = graph.value(in);
          value.rows = RowsKind::output;
          to = {static_cast<int>(graph.values.size())};
          graph.values.push_back(value);
          nodes.push_back(
              {.kind = OpKind::select_rows, .scope = node.scope, .inputs = {in}, .outputs = {to}});
        }
        in = to;
      }
      for (ValueId out : node.outputs) graph.value(out).rows = RowsKind::output;
    }
    nodes.push_back(std::move(node));
  }
  // Readers of the old selection now read what it selected from, already reduced.
  const ValueId old_out = graph.nodes[static_cast<size_t>(select)].outputs[0];
  const ValueId old_in = graph.nodes[static_cast<size_t>(select)].inputs[0];
  for (Node& node : nodes) {
    for (ValueId& in : node.inputs) {
      if (in == old_out) in = old_in;
    }
  }
  graph.nodes = std::move(nodes);
}

}  // namespace

Pass pass_hoist_select_rows() {
  return {.name = "hoist_select_rows", .order = 10, .is_optional = true, .run = run};
}

}  // namespace arion
