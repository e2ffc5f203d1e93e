// linear -> head_norm? -> rope? -> kv_write? becomes linear_head: whole heads are finished while
// they are in cache, and keys and values go straight into the paged KV.
#include "graph/pass.h"

namespace arion {
namespace {

class HeadFusion {
 public:
  explicit HeadFusion(Graph& graph)
      : graph_(graph), used_by_(uses(graph)), is_fused_(graph.nodes.size(), false) {}

  void run() {
    for (Node& node : graph_.nodes) {
      if (node.kind == OpKind::linear) fuse(node);
    }
    std::vector<Node> kept;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!is_fused_[n]) kept.push_back(std::move(graph_.nodes[n]));
    }
    graph_.nodes = std::move(kept);
  }

 private:
  // The node of `kind` that alone reads `value`, marked as fused; null if there is none.
  const Node* take(ValueId value, OpKind kind) {
    const int user = single_use(used_by_, value);
    if (user < 0) return nullptr;
    const Node& node = graph_.nodes[static_cast<size_t>(user)];
    if (node.kind != kind || node.inputs[0] != value) return nullptr;
    is_fused_[static_cast<size_t>(user)] = true;
    return &node;
  }

  void fuse(Node& linear) {
    Node fused = linear;
    fused.kind = OpKind::linear_head;
    fused.inputs.resize(2);
    fused.weights.resize(3);
    Attributes& a = fused.attributes;
    ValueId value = linear.outputs[0];
    const Node* last = nullptr;
    if (const Node* norm = take(value, OpKind::head_norm)) {
      last = norm;
      fused.weights[2] = norm->weights[0];
      a.eps = norm->attributes.eps;
      value = norm->outputs[0];
    }
    if (const Node* rope = take(value, OpKind::rope)) {
      last = rope;
      fused.inputs[1] = rope->inputs[1];
      a.rope = rope->attributes.rope;
      value = rope->outputs[0];
    }
    fused.outputs = {value};
    if (const Node* write = take(value, OpKind::kv_write)) {
      last = write;
      a.role = write->attributes.role;
      a.kv_group = write->attributes.kv_group;
      a.kv_layer = write->attributes.kv_layer;
      fused.outputs.clear();
    }
    if (last == nullptr) return;
    a.heads = last->attributes.heads;
    a.rope.head_dim = last->attributes.rope.head_dim;
    linear = std::move(fused);
  }

  Graph& graph_;
  const std::vector<std::vector<int>> used_by_;
  std::vector<bool> is_fused_;
};

void run(Graph& graph, const PassOptions&) {
  HeadFusion(graph).run();
  sort_nodes(graph);
}

}  // namespace

Pass pass_fuse_head() {
  return {.name = "fuse_head", .order = 30, .is_optional = true, .run = run};
}

}  // namespace arion
