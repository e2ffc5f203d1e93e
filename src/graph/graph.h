// The graph of a model: a list of nodes in execution order over values and weights.
//
// Every value is defined by exactly one node, before its uses. Slots of a node, by kind ("?": an
// empty id means absent):
//   kind          inputs           weights                         outputs
//   embed         -                table                           x
//   rope_angles   -                -                               angles
//   rms_norm      x                gain                            y
//   convert       x                -                               y (bf16 or int8)
//   linear        x                w, bias?                        y
//   head_norm     x                gain                            y
//   rope          x, angles        -                               y
//   kv_write      x                -                               -
//   attention     q                -                               o
//   glu           gate, up         -                               y
//   add           a, b             -                               y
//   select_rows   x                -                               y
//   norm          x, delta?        gain, delta_gain?               sum?, then y in each form
//   linear_add    x, residual      w, bias?                        y
//   linear_glu    x                gate, up, gate_bias?, up_bias?  y
//   linear_head   x, angles?       w, bias?, gain?                 y (queries only)
// After fuse_convert, the y of norm, attention, glu and linear_glu may be one value per form.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "op/op.h"
#include "quant/weight_format.h"

namespace arion {

struct ValueId {
  int index = -1;
  explicit operator bool() const { return index >= 0; }
  bool operator==(const ValueId&) const = default;
};

struct WeightId {
  int index = -1;
  explicit operator bool() const { return index >= 0; }
  bool operator==(const WeightId&) const = default;
};

// [rows of the step, cols] in one form.
struct Value {
  std::string name;
  int cols = 0;
  RowsKind rows = RowsKind::all;
  ActivationForm form = ActivationForm::f32;
};

// A tensor as its file holds it: `rows` rows of `cols` columns; vectors have rows = 1.
struct Weight {
  std::string name;
  const WeightFormat* format = nullptr;
  int rows = 0, cols = 0;
  std::span<const std::byte> data;
  float scale = 1.0f;  // multiplies all values of a matrix
};

// Rotation frequencies, resolved when the model is loaded.
struct RopeTable {
  std::vector<double> inverse_frequencies;  // [pairs] radians per token
  float magnitude = 1.0f;                   // multiplies cos and sin
};

// Only the fields a kind uses are meaningful.
struct Attributes {
  float eps = 0;                             // rms_norm, norm, head_norm, linear_head
  float scale = 1.0f;                        // embed
  Activation activation = Activation::silu;  // glu, linear_glu
  int rope_table = -1;                       // rope_angles
  int heads = 0;                             // head_norm, rope, kv_write, linear_head
  RopeAttributes rope;                       // rope, linear_head; head_dim for all head kinds
  HeadRole role = HeadRole::query;           // kv_write, linear_head
  int kv_group = 0, kv_layer = 0;            // kv_write, linear_head
  AttentionAttributes attention;             // attention
  bool has_sum = false;                      // norm: outputs[0] is x + delta
};

struct Node {
  OpKind kind = OpKind::add;
  std::string scope = {};  // "layer 3", for people
  std::vector<ValueId> inputs = {};
  std::vector<WeightId> weights = {};
  std::vector<ValueId> outputs = {};
  Attributes attributes = {};
};

// Layers sharing one pool of KV blocks.
struct KvGroup {
  int layers = 0, kv_heads = 0, head_dim = 0;
  int window = 0;  // tokens; 0 = full attention
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<Weight> weights;
  std::vector<RopeTable> rope_tables;
  std::vector<KvGroup> kv_groups;
  ValueId logits;  // output of the last linear; everything else runs before it

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id.index)]; }
  Value& value(ValueId id) { return values[static_cast<size_t>(id.index)]; }
  const Weight& weight(WeightId id) const { return weights[static_cast<size_t>(id.index)]; }
};

// Index of the node defining each value, -1 for values no node defines (any more).
std::vector<int> definitions(const Graph& graph);

// Indices of the nodes reading each value, ascending, one entry per use.
std::vector<std::vector<int>> uses(const Graph& graph);

// True if the node stores into the KV of a layer.
bool writes_kv(const Node& node);

// Sorts nodes so that values are defined before they are read and KV is written before it is
// attended, keeping the given order where it can.
void sort_nodes(Graph& graph);

// One line per node, for `explain` and golden tests.
std::string print_graph(const Graph& graph);

}  // namespace arion
