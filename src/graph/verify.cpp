// Checks that a graph is well formed: ids in range, definitions before uses, keys and values
// written before they are attended, forms and shapes that fit.
#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <utility>

#include "graph/pass.h"

namespace arion {
namespace {

// Slots of a kind: the first `inputs` and `weights` must be filled, the optional ones may be empty.
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

bool has_heads(OpKind kind) {
  return kind == OpKind::head_norm || kind == OpKind::rope || kind == OpKind::kv_write ||
         kind == OpKind::linear_head;
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), is_defined_(graph.values.size(), false) {}

  void run() {
    if (graph_.nodes.empty()) throw std::logic_error("graph: it has no nodes");
    for (const Node& node : graph_.nodes) {
      node_ = &node;
      check_node();
    }
    require(is_defined(graph_.logits), "the logits are never computed");
    require(graph_.value(graph_.logits).form == ActivationForm::f32, "the logits are not f32");
  }

 private:
  void require(bool condition, std::string_view what) const {
    if (!condition) {
      throw std::logic_error(
          fmt::format("graph: {} in {}: {}", op_name(node_->kind), node_->scope, what));
    }
  }

  bool is_value(ValueId id) const {
    return id && static_cast<size_t>(id.index) < graph_.values.size();
  }
  bool is_defined(ValueId id) const {
    return is_value(id) && is_defined_[static_cast<size_t>(id.index)];
  }

  void check_node() {
    const Node& node = *node_;
    const Slots expected = slots(node.kind);
    require(node.inputs.size() == expected.inputs + expected.optional_inputs,
            "wrong number of inputs");
    require(node.weights.size() == expected.weights + expected.optional_weights,
            "wrong number of weights");
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i >= expected.inputs && !node.inputs[i]) continue;
      require(is_defined(node.inputs[i]), "an input is read before it is defined");
      require(node.inputs[i] != graph_.logits, "the logits are an input");
    }
    for (size_t i = 0; i < node.weights.size(); ++i) {
      if (i >= expected.weights && !node.weights[i]) continue;
      require(node.weights[i] && static_cast<size_t>(node.weights[i].index) < graph_.weights.size(),
              "a weight is missing");
    }
    require(writes_kv(node) || !node.outputs.empty(), "it has no effect");
    for (ValueId out : node.outputs) {
      require(is_value(out) && !is_defined(out), "an output is defined twice");
      is_defined_[static_cast<size_t>(out.index)] = true;
    }
    check_forms();
    if (!node.inputs.empty()) check_shapes();
    if (writes_kv(node)) check_kv_write();
    if (node.kind == OpKind::attention) check_attention();
  }

  // Only linears read converted values; only some kinds write several values, each form once.
  void check_forms() const {
    const Node& node = *node_;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i] || (is_linear(node.kind) && i == 0)) continue;
      require(graph_.value(node.inputs[i]).form == ActivationForm::f32, "an input is not f32");
    }
    std::set<ActivationForm> forms;
    const size_t first = node.attributes.has_sum ? 1 : 0;
    require(!node.attributes.has_sum || (node.kind == OpKind::norm && node.inputs[1]),
            "a sum without a delta");
    for (size_t i = first; i < node.outputs.size(); ++i) {
      require(forms.insert(graph_.value(node.outputs[i]).form).second, "two outputs of one form");
    }
    switch (node.kind) {
      case OpKind::convert:
        require(!forms.contains(ActivationForm::f32), "a convert to f32");
        [[fallthrough]];
      case OpKind::norm:
      case OpKind::attention:
      case OpKind::glu:
      case OpKind::linear_glu:
        return;
      default:
        require(
            node.outputs.size() <= 1 && (forms.empty() || *forms.begin() == ActivationForm::f32),
            "an output is not f32, or there are several");
    }
  }

  void check_shapes() const {
    const Node& node = *node_;
    const Value& in = graph_.value(node.inputs[0]);
    int cols = in.cols;  // of the outputs
    if (is_linear(node.kind)) {
      cols = graph_.weight(node.weights[0]).rows;
      check_linear(in, cols);
    } else if (node.kind == OpKind::rms_norm || node.kind == OpKind::norm) {
      require(graph_.weight(node.weights[0]).cols == cols, "columns of the gain differ");
    }
    if (has_heads(node.kind)) {
      require(node.attributes.heads * node.attributes.rope.head_dim == cols,
              "heads do not make up the columns");
    }
    for (ValueId id : node.outputs) {
      const Value& out = graph_.value(id);
      require(out.cols == cols, "columns differ");
      require(node.kind == OpKind::select_rows
                  ? in.rows == RowsKind::all && out.rows == RowsKind::output
                  : in.rows == out.rows,
              "row kinds differ");
    }
    if (node.inputs.size() < 2 || !node.inputs[1]) return;
    const Value& second = graph_.value(node.inputs[1]);
    require(second.rows == in.rows, "row kinds of the inputs differ");
    const bool is_angles = node.kind == OpKind::rope || node.kind == OpKind::linear_head;
    require(second.cols == (is_angles ? 2 * node.attributes.rope.pairs : cols),
            "columns of the inputs differ");
  }

  void check_linear(const Value& in, int cols) const {
    const Node& node = *node_;
    require(graph_.weight(node.weights[0]).cols == in.cols,
            "input columns differ from the weight's");
    const size_t matrices = node.kind == OpKind::linear_glu ? 2 : 1;
    if (matrices == 2) {
      const Weight &gate = graph_.weight(node.weights[0]), &up = graph_.weight(node.weights[1]);
      require(gate.format == up.format && gate.rows == up.rows && gate.cols == up.cols,
              "the two matrices differ in format or shape");
    }
    for (size_t i = matrices; i < 2 * matrices; ++i) {
      require(!node.weights[i] || graph_.weight(node.weights[i]).cols == cols,
              "columns of the bias differ");
    }
  }

  const KvGroup& group(int group, int layer) const {
    require(group >= 0 && static_cast<size_t>(group) < graph_.kv_groups.size(), "no such KV group");
    const KvGroup& found = graph_.kv_groups[static_cast<size_t>(group)];
    require(layer >= 0 && layer < found.layers, "no such KV layer");
    return found;
  }

  void check_kv_write() {
    const Attributes& a = node_->attributes;
    const KvGroup& kv = group(a.kv_group, a.kv_layer);
    require(a.role != HeadRole::query, "queries are not stored");
    require(a.heads == kv.kv_heads && a.rope.head_dim == kv.head_dim, "heads differ from the KV's");
    require(written_.insert({{a.kv_group, a.kv_layer}, a.role}).second, "KV is written twice");
  }

  void check_attention() const {
    const AttentionAttributes& a = node_->attributes.attention;
    require(a.heads * a.head_dim == graph_.value(node_->inputs[0]).cols,
            "heads do not make up the columns");
    const KvGroup& kv = group(a.kv_group, a.kv_layer);
    require(a.kv_heads == kv.kv_heads && a.head_dim == kv.head_dim && a.window == kv.window,
            "attention differs from its KV");
    require(a.kv_heads > 0 && a.heads % a.kv_heads == 0, "KV heads do not divide the heads");
    for (HeadRole role : {HeadRole::key, HeadRole::value}) {
      require(written_.contains({{a.kv_group, a.kv_layer}, role}),
              "KV is read before it is written");
    }
  }

  const Graph& graph_;
  std::vector<bool> is_defined_;
  std::set<std::pair<std::pair<int, int>, HeadRole>> written_;  // (group, layer), role
  const Node* node_ = nullptr;                                  // the one being checked
};

}  // namespace

void verify(const Graph& graph) {
  Verifier(graph).run();
}

}  // namespace arion
