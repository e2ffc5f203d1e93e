// A convert moves into the node that makes its input, which then writes that form itself.
#include <algorithm>

#include "graph/pass.h"

namespace arion {
namespace {

// True if kernels of this node can write any form of its result.
bool writes_forms(const Node& node, ActivationForm form) {
  switch (node.kind) {
    case OpKind::norm:
    case OpKind::glu:
    case OpKind::linear_glu:
      return true;
    case OpKind::attention:  // a head is finished alone: int8 groups must not cross heads
      return form != ActivationForm::int8 || node.attributes.attention.head_dim % kTileCols == 0;
    default:
      return false;
  }
}

void run(Graph& graph, const PassOptions&) {
  const auto defined_by = definitions(graph);
  const auto used_by = uses(graph);
  std::vector<int> remaining(graph.values.size());
  for (size_t v = 0; v < remaining.size(); ++v) remaining[v] = static_cast<int>(used_by[v].size());
  std::vector<bool> is_fused(graph.nodes.size(), false);

  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& convert = graph.nodes[n];
    if (convert.kind != OpKind::convert) continue;
    const ValueId from = convert.inputs[0], to = convert.outputs[0];
    Node& maker = graph.nodes[static_cast<size_t>(defined_by[static_cast<size_t>(from.index)])];
    const ActivationForm form = graph.value(to).form;
    const bool is_sum = maker.attributes.has_sum && maker.outputs[0] == from;
    if (is_sum || !writes_forms(maker, form)) continue;
    const bool has_form = std::ranges::any_of(
        maker.outputs, [&](ValueId out) { return graph.value(out).form == form; });
    if (has_form) continue;
    maker.outputs.push_back(to);
    is_fused[n] = true;
    if (--remaining[static_cast<size_t>(from.index)] == 0) std::erase(maker.outputs, from);
  }
  std::vector<Node> kept;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!is_fused[n]) kept.push_back(std::move(graph.nodes[n]));
  }
  graph.nodes = std::move(kept);
  sort_nodes(graph);
}

}  // namespace

Pass pass_fuse_convert() {
  return {.name = "fuse_convert", .order = 70, .is_optional = true, .run = run};
}

}  // namespace arion
