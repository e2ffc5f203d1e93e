// One node per call, with the shape of its result; verify.h checks the whole.
#include "graph/builder.h"

#include "base/check.h"

namespace arion {

ValueId GraphBuilder::emit(Node node, std::string_view name, int cols, RowsKind rows) {
  const ValueId id{static_cast<int>(graph_.values.size())};
  graph_.values.push_back({.name = std::string(name), .cols = cols, .rows = rows});
  node.scope = scope_;
  node.outputs = {id};
  graph_.nodes.push_back(std::move(node));
  return id;
}

WeightId GraphBuilder::weight(Weight weight) {
  graph_.weights.push_back(std::move(weight));
  return {static_cast<int>(graph_.weights.size()) - 1};
}

int GraphBuilder::rope_table(RopeTable table) {
  graph_.rope_tables.push_back(std::move(table));
  return static_cast<int>(graph_.rope_tables.size()) - 1;
}

KvLayer GraphBuilder::kv_layer(const KvGroup& shape) {
  for (size_t g = 0; g < graph_.kv_groups.size(); ++g) {
    KvGroup& group = graph_.kv_groups[g];
    if (group.kv_heads == shape.kv_heads && group.head_dim == shape.head_dim &&
        group.window == shape.window) {
      return {static_cast<int>(g), group.layers++};
    }
  }
  graph_.kv_groups.push_back(shape);
  graph_.kv_groups.back().layers = 1;
  return {static_cast<int>(graph_.kv_groups.size()) - 1, 0};
}

ValueId GraphBuilder::embed(WeightId table, float scale) {
  Node node{.kind = OpKind::embed, .weights = {table}};
  node.attributes.scale = scale;
  return emit(std::move(node), "embedding", graph_.weight(table).cols, RowsKind::all);
}

ValueId GraphBuilder::rope_angles(int rope_table) {
  Node node{.kind = OpKind::rope_angles};
  node.attributes.rope_table = rope_table;
  const RopeTable& table = graph_.rope_tables[static_cast<size_t>(rope_table)];
  return emit(std::move(node), "angles", 2 * static_cast<int>(table.inverse_frequencies.size()),
              RowsKind::all);
}

ValueId GraphBuilder::rms_norm(ValueId x, WeightId gain, float eps) {
  const Value in = graph_.value(x);
  CHECK(graph_.weight(gain).cols == in.cols);
  Node node{.kind = OpKind::rms_norm, .inputs = {x}, .weights = {gain}};
  node.attributes.eps = eps;
  return emit(std::move(node), "normed", in.cols, in.rows);
}

ValueId GraphBuilder::linear(ValueId x, WeightId w, WeightId bias) {
  const Value in = graph_.value(x);
  const Weight& matrix = graph_.weight(w);
  CHECK(matrix.cols == in.cols);
  CHECK(!bias || graph_.weight(bias).cols == matrix.rows);
  return emit({.kind = OpKind::linear, .inputs = {x}, .weights = {w, bias}}, "y", matrix.rows,
              in.rows);
}

ValueId GraphBuilder::head_norm(ValueId x, WeightId gain, int head_dim, float eps) {
  const Value in = graph_.value(x);
  CHECK(in.cols % head_dim == 0 && graph_.weight(gain).cols == head_dim);
  Node node{.kind = OpKind::head_norm, .inputs = {x}, .weights = {gain}};
  node.attributes.eps = eps;
  node.attributes.rope.head_dim = head_dim;
  node.attributes.heads = in.cols / head_dim;
  return emit(std::move(node), "normed_heads", in.cols, in.rows);
}

ValueId GraphBuilder::rope(ValueId x, ValueId angles, const RopeAttributes& rope) {
  const Value in = graph_.value(x);
  CHECK(in.cols % rope.head_dim == 0 && graph_.value(angles).cols == 2 * rope.pairs);
  Node node{.kind = OpKind::rope, .inputs = {x, angles}};
  node.attributes.rope = rope;
  node.attributes.heads = in.cols / rope.head_dim;
  return emit(std::move(node), "rotated", in.cols, in.rows);
}

void GraphBuilder::kv_write(ValueId x, HeadRole role, int head_dim, KvLayer kv) {
  const Value in = graph_.value(x);
  CHECK(in.cols % head_dim == 0);
  Node node{.kind = OpKind::kv_write, .scope = scope_, .inputs = {x}};
  node.attributes.role = role;
  node.attributes.rope.head_dim = head_dim;
  node.attributes.heads = in.cols / head_dim;
  node.attributes.kv_group = kv.group;
  node.attributes.kv_layer = kv.layer;
  graph_.nodes.push_back(std::move(node));
}

ValueId GraphBuilder::attention(ValueId q, const AttentionAttributes& attributes) {
  const Value in = graph_.value(q);
  CHECK(in.cols == attributes.heads * attributes.head_dim);
  Node node{.kind = OpKind::attention, .inputs = {q}};
  node.attributes.attention = attributes;
  return emit(std::move(node), "attended", in.cols, in.rows);
}

ValueId GraphBuilder::glu(ValueId gate, ValueId up, Activation activation) {
  const Value in = graph_.value(gate);
  CHECK(in.cols == graph_.value(up).cols && in.rows == graph_.value(up).rows);
  Node node{.kind = OpKind::glu, .inputs = {gate, up}};
  node.attributes.activation = activation;
  return emit(std::move(node), "gated", in.cols, in.rows);
}

ValueId GraphBuilder::add(ValueId a, ValueId b) {
  const Value in = graph_.value(a);
  CHECK(in.cols == graph_.value(b).cols && in.rows == graph_.value(b).rows);
  return emit({.kind = OpKind::add, .inputs = {a, b}}, "sum", in.cols, in.rows);
}

ValueId GraphBuilder::select_rows(ValueId x) {
  const Value in = graph_.value(x);
  CHECK(in.rows == RowsKind::all);
  return emit({.kind = OpKind::select_rows, .inputs = {x}}, "selected", in.cols, RowsKind::output);
}

Graph GraphBuilder::finish(ValueId logits) {
  graph_.logits = logits;
  return std::move(graph_);
}

}  // namespace arion
