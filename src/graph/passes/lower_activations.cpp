// Gives every linear its input in the form its weight wants: inserts one convert per (value, form).
#include <map>

#include "graph/pass.h"

namespace arion {
namespace {

void run(Graph& graph, const PassOptions& options) {
  std::map<std::pair<int, ActivationForm>, ValueId> converted;
  std::vector<Node> nodes;
  for (Node& node : graph.nodes) {
    if (node.kind == OpKind::linear) {
      const ActivationForm form = input_form(options, graph.weight(node.weights[0]));
      if (form != ActivationForm::f32) {
        ValueId& to = converted[{node.inputs[0].index, form}];
        if (!to) {
          Value value = graph.value(node.inputs[0]);
          value.form = form;
          to = {static_cast<int>(graph.values.size())};
          graph.values.push_back(value);
          nodes.push_back({.kind = OpKind::convert,
                           .scope = node.scope,
                           .inputs = {node.inputs[0]},
                           .outputs = {to}});
        }
        node.inputs[0] = to;
      }
    }
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace

Pass pass_lower_activations() {
  return {.name = "lower_activations", .order = 20, .is_optional = false, .run = run};
}

}  // namespace arion
