// Two linears of the same input whose results meet in a glu become one linear_glu.
#include "graph/pass.h"

namespace arion {
namespace {

// The linear defining `value` if only the glu reads it; else null.
Node* sole_linear(Graph& graph, const std::vector<int>& defined_by,
                  const std::vector<std::vector<int>>& used_by, ValueId value) {
  Node& node = graph.nodes[static_cast<size_t>(defined_by[static_cast<size_t>(value.index)])];
  return node.kind == OpKind::linear && single_use(used_by, value) >= 0 ? &node : nullptr;
}

void run(Graph& graph, const PassOptions&) {
  const auto defined_by = definitions(graph);
  const auto used_by = uses(graph);
  for (Node& glu : graph.nodes) {
    if (glu.kind != OpKind::glu || glu.inputs[0] == glu.inputs[1]) continue;
    const Node* gate = sole_linear(graph, defined_by, used_by, glu.inputs[0]);
    const Node* up = sole_linear(graph, defined_by, used_by, glu.inputs[1]);
    if (gate == nullptr || up == nullptr || gate->inputs[0] != up->inputs[0]) continue;
    const Weight& gate_weight = graph.weight(gate->weights[0]);
    const Weight& up_weight = graph.weight(up->weights[0]);
    if (gate_weight.format != up_weight.format) continue;  // one kernel reads both
    glu.kind = OpKind::linear_glu;
    glu.inputs = {gate->inputs[0]};
    glu.weights = {gate->weights[0], up->weights[0], gate->weights[1], up->weights[1]};
  }
  clean_up(graph);
}

}  // namespace

Pass pass_fuse_glu() {
  return {.name = "fuse_glu", .order = 40, .is_optional = true, .run = run};
}

}  // namespace arion
