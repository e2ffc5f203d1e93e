// Whole networks are accepted; every damage is refused by name.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "graph/small_graph.h"

namespace arion {
namespace {

// A small network with every kind of node a model is built from.
Graph network() {
  test::SmallGraph g;
  const ValueId x = g.embedding(64);
  const ValueId angles = g.rope_angles(g.rope_table({.inverse_frequencies = {1, 0.5}}));
  const ValueId normed = g.rms_norm(x, g.vector("gain", 64), 1e-5f);
  const KvLayer kv = g.kv_layer({.kv_heads = 1, .head_dim = 16});
  ValueId q = g.linear(normed, g.matrix("q", 32, 64), g.vector("q_bias", 32));
  q = g.rope(g.head_norm(q, g.vector("head_gain", 16), 16, 1e-5f), angles,
             {.head_dim = 16, .pairs = 2});
  g.kv_write(g.linear(normed, g.matrix("k", 16, 64)), HeadRole::key, 16, kv);
  g.kv_write(g.linear(normed, g.matrix("v", 16, 64)), HeadRole::value, 16, kv);
  const ValueId o = g.attention(q, {.heads = 2, .kv_heads = 1, .head_dim = 16});
  const ValueId sum = g.add(x, g.linear(o, g.matrix("o", 64, 32)));
  const ValueId gated = g.glu(g.linear(sum, g.matrix("gate", 32, 64)),
                              g.linear(sum, g.matrix("up", 32, 64)), Activation::silu);
  const ValueId last = g.select_rows(g.linear(gated, g.matrix("down", 64, 32)));
  return g.finish(g.linear(last, g.matrix("head", 100, 64)));
}

Node& node(Graph& graph, OpKind kind, int skip = 0) {
  for (Node& n : graph.nodes) {
    if (n.kind == kind && skip-- == 0) return n;
  }
  throw std::invalid_argument("no such node");
}

struct Damage {
  const char* what;  // part of the message
  std::function<void(Graph&)> apply;
};

const Damage kDamages[] = {
    {"no nodes", [](Graph& g) { g.nodes.clear(); }},
    {"never computed", [](Graph& g) { g.nodes.pop_back(); }},
    {"never computed", [](Graph& g) { g.logits = {}; }},
    {"never computed", [](Graph& g) { g.logits = {1000}; }},
    {"an output is not f32", [](Graph& g) { g.value(g.logits).form = ActivationForm::bf16; }},
    {"logits are an input", [](Graph& g) { g.logits = node(g, OpKind::rms_norm).outputs[0]; }},
    {"number of inputs", [](Graph& g) { node(g, OpKind::add).inputs.pop_back(); }},
    {"number of inputs", [](Graph& g) { node(g, OpKind::embed).inputs.push_back({0}); }},
    {"number of weights", [](Graph& g) { node(g, OpKind::linear).weights.pop_back(); }},
    {"before it is defined", [](Graph& g) { std::swap(g.nodes[0], g.nodes[2]); }},
    {"before it is defined", [](Graph& g) { node(g, OpKind::add).inputs[0] = {}; }},
    {"before it is defined", [](Graph& g) { node(g, OpKind::add).inputs[0] = {1000}; }},
    {"a weight is missing", [](Graph& g) { node(g, OpKind::linear).weights[0] = {}; }},
    {"a weight is missing", [](Graph& g) { node(g, OpKind::linear).weights[1] = {1000}; }},
    {"no effect", [](Graph& g) { node(g, OpKind::glu).outputs.clear(); }},
    {"defined twice", [](Graph& g) { node(g, OpKind::glu).outputs[0] = {0}; }},
    {"defined twice", [](Graph& g) { node(g, OpKind::glu).outputs[0] = {1000}; }},
    {"an input is not f32",
     [](Graph& g) {
       const ValueId x = node(g, OpKind::add).inputs[0];
       g.nodes.insert(g.nodes.begin() + 1, {.kind = OpKind::convert, .inputs = {x}});
       g.values.push_back({.cols = 64, .form = ActivationForm::int8});
       g.nodes[1].outputs = {{static_cast<int>(g.values.size()) - 1}};
       node(g, OpKind::add).inputs[0] = g.nodes[1].outputs[0];
     }},
    {"convert to f32", [](Graph& g) { node(g, OpKind::select_rows).kind = OpKind::convert; }},
    {"sum without a delta", [](Graph& g) { node(g, OpKind::add).attributes.has_sum = true; }},
    {"columns differ", [](Graph& g) { g.value(node(g, OpKind::add).outputs[0]).cols = 63; }},
    {"columns of the gain",
     [](Graph& g) {
       node(g, OpKind::rms_norm).weights[0] = node(g, OpKind::head_norm).weights[0];
     }},
    {"row kinds differ",
     [](Graph& g) { g.value(node(g, OpKind::select_rows).outputs[0]).rows = RowsKind::all; }},
    {"row kinds differ", [](Graph& g) { g.value(g.logits).rows = RowsKind::all; }},
    {"columns of the inputs", [](Graph& g) { node(g, OpKind::rope).attributes.rope.pairs = 1; }},
    {"columns of the inputs",
     [](Graph& g) { node(g, OpKind::add).inputs[1] = node(g, OpKind::rope).outputs[0]; }},
    {"input columns differ",
     [](Graph& g) { node(g, OpKind::linear).weights[0] = node(g, OpKind::linear, 3).weights[0]; }},
    {"columns of the bias",
     [](Graph& g) { node(g, OpKind::linear, 1).weights[1] = node(g, OpKind::linear).weights[1]; }},
    {"heads do not make up", [](Graph& g) { node(g, OpKind::rope).attributes.heads = 3; }},
    {"no such KV group", [](Graph& g) { node(g, OpKind::kv_write).attributes.kv_group = 1; }},
    {"no such KV group", [](Graph& g) { node(g, OpKind::kv_write).attributes.kv_group = -1; }},
    {"no such KV layer",
     [](Graph& g) { node(g, OpKind::attention).attributes.attention.kv_layer = 1; }},
    {"queries are not stored",
     [](Graph& g) { node(g, OpKind::kv_write).attributes.role = HeadRole::query; }},
    {"written twice",
     [](Graph& g) { node(g, OpKind::kv_write).attributes.role = HeadRole::value; }},
    {"heads differ from the KV", [](Graph& g) { g.kv_groups[0].head_dim = 32; }},
    {"differs from its KV", [](Graph& g) { g.kv_groups[0].window = 5; }},
    {"read before it is written",
     [](Graph& g) { std::erase_if(g.nodes, [](const Node& n) { return writes_kv(n); }); }},
    {"heads do not make up",
     [](Graph& g) { node(g, OpKind::attention).attributes.attention.heads = 3; }},
};

TEST(Verify, AcceptsANetworkBeforeAndAfterAllPasses) {
  Graph graph = network();
  EXPECT_NO_THROW(verify(graph));
  EXPECT_NO_THROW(run_passes(graph, all_passes(), {}));
}

TEST(Verify, RefusesEveryDamageByName) {
  for (const Damage& damage : kDamages) {
    Graph graph = network();
    damage.apply(graph);
    try {
      verify(graph);
      ADD_FAILURE() << damage.what;
    } catch (const std::logic_error& error) {
      EXPECT_NE(std::string(error.what()).find(damage.what), std::string::npos)
          << error.what() << " instead of: " << damage.what;
    }
  }
}

TEST(Verify, RefusesFusedNodesThatDoNotFit) {
  Graph graph = network();
  run_passes(graph, all_passes(), {});
  Graph other_format = graph;
  Node& glu = node(other_format, OpKind::linear_glu);
  other_format.weights[static_cast<size_t>(glu.weights[1].index)].format =
      find_weight_format("Q8_0");
  EXPECT_THROW(verify(other_format), std::logic_error);
  Graph two_forms = graph;
  Node& norm = node(two_forms, OpKind::norm);
  two_forms.values.push_back(two_forms.value(norm.outputs[0]));
  norm.outputs.push_back({static_cast<int>(two_forms.values.size()) - 1});
  EXPECT_THROW(verify(two_forms), std::logic_error);
}

}  // namespace
}  // namespace arion
