// rms_norm becomes norm, taking in the residual add before it and the norm of the added delta.
#include "graph/pass.h"

namespace arion {
namespace {

// The node of `kind` defining `value`; null otherwise.
const Node* definition(const Graph& graph, const std::vector<int>& defined_by, ValueId value,
                       OpKind kind) {
  const int n = defined_by[static_cast<size_t>(value.index)];
  const Node& node = graph.nodes[static_cast<size_t>(n)];
  return node.kind == kind ? &node : nullptr;
}

void run(Graph& graph, const PassOptions&) {
  const auto defined_by = definitions(graph);
  const auto used_by = uses(graph);
  std::vector<ValueId> taken;  // sums that a norm now defines
  for (Node& norm : graph.nodes) {
    if (norm.kind != OpKind::rms_norm) continue;
    const Node* add = definition(graph, defined_by, norm.inputs[0], OpKind::add);
    bool is_first = true;
    for (ValueId sum : taken) is_first = is_first && sum != norm.inputs[0];
    norm.weights.resize(2);
    if (add == nullptr || !is_first) {
      // Should this be the norm of a delta, the norm behind its add takes it in later.
      norm.inputs.resize(2);
      norm.kind = OpKind::norm;
      continue;
    }
    const ValueId sum = norm.inputs[0];
    ValueId x = add->inputs[0], delta = add->inputs[1];
    const Node* delta_norm = definition(graph, defined_by, delta, OpKind::norm);
    if (delta_norm != nullptr && single_use(used_by, delta) >= 0 && !delta_norm->inputs[1] &&
        delta_norm->attributes.eps == norm.attributes.eps) {
      norm.weights[1] = delta_norm->weights[0];
      delta = delta_norm->inputs[0];
    }
    norm.kind = OpKind::norm;
    norm.inputs = {x, delta};
    norm.outputs.insert(norm.outputs.begin(), sum);
    norm.attributes.has_sum = true;
    taken.push_back(sum);
  }
  // The adds whose sum a norm defines are gone.
  std::erase_if(graph.nodes, [&](const Node& node) {
    if (node.kind != OpKind::add) return false;
    for (ValueId sum : taken) {
      if (sum == node.outputs[0]) return true;
    }
    return false;
  });
  clean_up(graph);
}

}  // namespace

Pass pass_fuse_norm() {
  return {.name = "fuse_norm", .order = 60, .is_optional = true, .run = run};
}

}  // namespace arion
