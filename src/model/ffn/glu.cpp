// Gated feed-forward: down(act(gate x) * up x).
#include "model/layer_builder.h"

namespace arion {

ValueId ffn_glu(const LayerBuilder& l, ValueId x) {
  const int hidden = l.config.hidden, inner = l.layer.feed_forward;
  auto project = [&](ValueId in, const char* tensor, int rows, int cols) {
    const std::string base = l.name(tensor);
    return l.graph.linear(in, l.tensors.matrix(base + ".weight", rows, cols),
                          l.tensors.find_vector(base + ".bias", rows));
  };
  const ValueId gate = project(x, "ffn_gate", inner, hidden);
  const ValueId up = project(x, "ffn_up", inner, hidden);
  return project(l.graph.glu(gate, up, l.config.spec->activation), "ffn_down", hidden, inner);
}

}  // namespace arion
