// add(x, linear) becomes linear_add: the residual is added while the result is in registers.
#include <utility>

#include "graph/pass.h"

namespace arion {
namespace {

void run(Graph& graph, const PassOptions&) {
  const auto defined_by = definitions(graph);
  const auto used_by = uses(graph);
  for (Node& add : graph.nodes) {
    if (add.kind != OpKind::add) continue;
    for (int side : {1, 0}) {
      const ValueId delta = add.inputs[static_cast<size_t>(side)];
      const Node& linear =
          graph.nodes[static_cast<size_t>(defined_by[static_cast<size_t>(delta.index)])];
      if (linear.kind != OpKind::linear || single_use(used_by, delta) < 0) continue;
      const ValueId residual = add.inputs[static_cast<size_t>(1 - side)];
      add.kind = OpKind::linear_add;
      add.inputs = {linear.inputs[0], residual};
      add.weights = linear.weights;
      break;
    }
  }
  clean_up(graph);
}

}  // namespace

Pass pass_fuse_residual() {
  return {.name = "fuse_residual", .order = 50, .is_optional = true, .run = run};
}

}  // namespace arion
