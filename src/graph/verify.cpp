// Checks the shape of a graph: definitions before uses, slots filled, columns that fit.
#include <fmt/format.h>

#include <stdexcept>

#include "graph/pass.h"

namespace arion {
namespace {

struct Slots {
  size_t inputs, optional_inputs, weights, optional_weights;
};

Slots slots(OpKind kind) {
  switch (kind) {
    case OpKind::embed:
      return {0, 0, 1, 0};
    case OpKind::rope_angles:
      return {0, 0, 0, 0};
    case OpKind::rms_norm:
    case OpKind::head_norm:
      return {1, 0, 1, 0};
    case OpKind::convert:
    case OpKind::kv_write:
    case OpKind::attention:
    case OpKind::select_rows:
      return {1, 0, 0, 0};
    case OpKind::linear:
      return {1, 0, 1, 1};
    case OpKind::rope:
    case OpKind::glu:
    case OpKind::add:
      return {2, 0, 0, 0};
    case OpKind::norm:
      return {1, 1, 1, 1};
    case OpKind::linear_add:
      return {2, 0, 1, 1};
    case OpKind::linear_glu:
      return {1, 0, 2, 2};
    case OpKind::linear_head:
      return {1, 1, 1, 2};
  }
  return {};
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), is_defined_(graph.values.size(), false) {}

  void run() {
    for (const Node& node : graph_.nodes) check_node(node);
    require(is_defined(graph_.logits), graph_.nodes.back(), "logits are never computed");
  }

 private:
  static void require(bool condition, const Node& node, std::string_view what) {
    if (!condition) {
      throw std::logic_error(
          fmt::format("graph: {} in {}: {}", op_name(node.kind), node.scope, what));
    }
  }

  bool is_defined(ValueId id) const { return id && is_defined_[static_cast<size_t>(id.index)]; }

  void check_node(const Node& node) {
    const Slots expected = slots(node.kind);
    require(node.inputs.size() >= expected.inputs &&
                node.inputs.size() <= expected.inputs + expected.optional_inputs,
            node, "wrong number of inputs");
    require(node.weights.size() >= expected.weights &&
                node.weights.size() <= expected.weights + expected.optional_weights,
            node, "wrong number of weights");
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i >= expected.inputs && !node.inputs[i]) continue;
      require(is_defined(node.inputs[i]), node, "an input is read before it is defined");
    }
    for (size_t i = 0; i < expected.weights; ++i) {
      require(static_cast<bool>(node.weights[i]), node, "a weight is missing");
    }
    for (ValueId out : node.outputs) {
      require(out && !is_defined_[static_cast<size_t>(out.index)], node, "defined twice");
      is_defined_[static_cast<size_t>(out.index)] = true;
    }
    if (!node.outputs.empty() && !node.inputs.empty()) check_shapes(node);
  }

  void check_shapes(const Node& node) const {
    const Value& in = graph_.value(node.inputs[0]);
    const Value& out = graph_.value(node.outputs[0]);
    require(in.rows == out.rows || node.kind == OpKind::select_rows, node, "row kinds differ");
    switch (node.kind) {
      case OpKind::linear:
      case OpKind::linear_add:
      case OpKind::linear_glu:
      case OpKind::linear_head: {
        const Weight& weight = graph_.weight(node.weights[0]);
        require(weight.cols == in.cols, node, "input columns differ from the weight's");
        require(weight.rows == out.cols, node, "output columns differ from the weight's rows");
        break;
      }
      case OpKind::rope_angles:
        break;
      default:
        require(in.cols == out.cols, node, "columns differ");
    }
  }

  const Graph& graph_;
  std::vector<bool> is_defined_;
};

}  // namespace

void verify(const Graph& graph) {
  Verifier(graph).run();
}

}  // namespace arion
