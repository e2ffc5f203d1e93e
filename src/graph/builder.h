// Records the operations of a model into a graph; nothing runs while a model is being built.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "graph/graph.h"

namespace arion {

// Which KV a layer reads and writes: group, and layer within the group.
struct KvLayer {
  int group = 0, layer = 0;
};

// Shapes are checked as operations are recorded: a mismatch is a bug of the model code, since the
// loader has validated every tensor. Not thread-safe.
class GraphBuilder {
 public:
  // Names the nodes recorded from now on.
  void set_scope(std::string scope) { scope_ = std::move(scope); }

  WeightId weight(Weight weight);
  int rope_table(RopeTable table);
  // Adds a layer to the KV group of that shape (`shape.layers` is ignored).
  KvLayer kv_layer(const KvGroup& shape);

  ValueId embed(WeightId table, float scale);
  ValueId rope_angles(int rope_table);
  ValueId rms_norm(ValueId x, WeightId gain, float eps);
  ValueId linear(ValueId x, WeightId w, WeightId bias = {});
  ValueId head_norm(ValueId x, WeightId gain, int head_dim, float eps);
  ValueId rope(ValueId x, ValueId angles, const RopeAttributes& rope);
  void kv_write(ValueId x, HeadRole role, int head_dim, KvLayer kv);
  ValueId attention(ValueId q, const AttentionAttributes& attributes);
  ValueId glu(ValueId gate, ValueId up, Activation activation);
  ValueId add(ValueId a, ValueId b);
  ValueId select_rows(ValueId x);

  // Takes the finished graph, whose result is `logits`.
  Graph finish(ValueId logits);

  const Graph& graph() const { return graph_; }

 private:
  ValueId emit(Node node, std::string_view name, int cols, RowsKind rows);

  Graph graph_;
  std::string scope_;
};

}  // namespace arion
