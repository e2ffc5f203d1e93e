// Printed graphs, selection of passes, and activation forms.
#include "graph/pass.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/small_graph.h"

namespace arion {
namespace {

using test::run_pass;
using test::SmallGraph;

TEST(PrintGraph, ShowsOneLinePerNodeWithTypesAttributesAndWeights) {
  SmallGraph g;
  g.set_scope("layer 0");
  const ValueId x = g.embed(g.matrix("embd", 100, 64, "Q8_0"), 2.0f);
  const ValueId angles = g.rope_angles(g.rope_table({.inverse_frequencies = {1, 0.5}}));
  const KvLayer kv = g.kv_layer({.kv_heads = 1, .head_dim = 16, .window = 8});
  const ValueId q = g.rope(g.linear(x, g.matrix("q", 32, 64), g.vector("q_bias", 32)), angles,
                           {.head_dim = 16, .pairs = 2});
  g.kv_write(g.linear(x, g.matrix("k", 16, 64)), HeadRole::key, 16, kv);
  g.kv_write(g.linear(x, g.matrix("v", 16, 64)), HeadRole::value, 16, kv);
  const ValueId o =
      g.attention(q, {.heads = 2, .kv_heads = 1, .head_dim = 16, .window = 8, .kv_group = 0});
  g.set_scope("head");
  const ValueId y = g.add(o, o);
  g.select_rows(y);
  const Graph graph = g.finish(y);
  EXPECT_EQ(print_graph(graph),
            "# layer 0\n"
            "%0:f32[64] = embed scale=2 embd:Q8_0\n"
            "%1:f32[4] = rope_angles table=0\n"
            "%2:f32[32] = linear %0 q:Q4_0 q_bias:F32\n"
            "%3:f32[32] = rope %2 %1\n"
            "%4:f32[16] = linear %0 k:Q4_0\n"
            "kv_write %4 role=key heads=1 kv=0.0\n"
            "%5:f32[16] = linear %0 v:Q4_0\n"
            "kv_write %5 role=value heads=1 kv=0.0\n"
            "%6:f32[32] = attention %3 heads=2/1 dim=16 window=8 kv=0.0\n"
            "# head\n"
            "%7:f32[32] = add %6 %6\n"
            "%8:f32[output,32] = select_rows %7\n");
}

TEST(SelectPasses, TakesAllNoneOrAListToLeaveOut) {
  const size_t all = select_passes("all").size();
  EXPECT_EQ(all, all_passes().size());
  EXPECT_EQ(select_passes("-fuse_glu,-fuse_head").size(), all - 2);
  for (const Pass& pass : select_passes("none")) EXPECT_FALSE(pass.is_optional) << pass.name;
}

TEST(SelectPasses, NamesThePassesWhenTheSelectionIsWrong) {
  for (const char* wrong : {"", "some", "fuse_glu", "-nosuch", "-fuse_glu,", "all,-fuse_glu",
                            "-lower_activations", "-fuse_glu,-fuse_glu"}) {
    try {
      select_passes(wrong);
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_NE(std::string(error.what()).find("-fuse_residual"), std::string::npos)
          << error.what();
    }
  }
}

TEST(InputForm, FollowsTheFormatOfTheWeightUnlessTold) {
  SmallGraph g;
  auto form = [&](const char* format, const PassOptions& options = {}) {
    return input_form(options, g.graph().weight(g.matrix("w", 16, 256, format)));
  };
  EXPECT_EQ(form("Q4_0"), ActivationForm::int8);
  EXPECT_EQ(form("Q6_K"), ActivationForm::int8);
  EXPECT_EQ(form("BF16"), ActivationForm::bf16);
  EXPECT_EQ(form("F16"), ActivationForm::f32);
  EXPECT_EQ(form("F32"), ActivationForm::f32);
  EXPECT_EQ(form("Q4_0", {.activations = ActivationForm::bf16}), ActivationForm::bf16);
  EXPECT_THROW(form("F16", {.activations = ActivationForm::int8}), Error);
}

TEST(LowerActivations, ConvertsAValueOncePerForm) {
  SmallGraph g;
  const ValueId x = g.embedding(64);
  const ValueId a = g.linear(x, g.matrix("a", 32, 64, "Q4_0"));
  const ValueId b = g.linear(x, g.matrix("b", 32, 64, "Q8_0"));
  const ValueId c = g.linear(x, g.matrix("c", 32, 64, "BF16"));
  const ValueId d = g.linear(x, g.matrix("d", 32, 64, "F16"));
  const ValueId sum = g.add(a, b);
  Graph graph = g.finish(g.add(sum, g.add(c, d)));
  run_pass(graph, "lower_activations");
  EXPECT_EQ(print_graph(graph),
            "%0:f32[64] = embed embd:F32\n"
            "%8:int8[64] = convert %0\n"
            "%1:f32[32] = linear %8 a:Q4_0\n"
            "%2:f32[32] = linear %8 b:Q8_0\n"
            "%9:bf16[64] = convert %0\n"
            "%3:f32[32] = linear %9 c:BF16\n"
            "%4:f32[32] = linear %0 d:F16\n"
            "%5:f32[32] = add %1 %2\n"
            "%6:f32[32] = add %3 %4\n"
            "%7:f32[32] = add %5 %6\n");
}

// One attention layer; `store` adds the KV writes.
struct Attention {
  SmallGraph g;
  ValueId x = g.embedding(64);
  ValueId angles = g.rope_angles(g.rope_table({.inverse_frequencies = {1, 0.5}}));
  KvLayer kv = g.kv_layer({.kv_heads = 1, .head_dim = 16});
  RopeAttributes rope{.head_dim = 16, .pairs = 2};

  ValueId attend(ValueId q) {
    return g.attention(q, {.heads = 2, .kv_heads = 1, .head_dim = 16, .kv_layer = kv.layer});
  }
};

TEST(FuseHead, TakesNormRotationAndStoreIntoTheLinear) {
  Attention a;
  SmallGraph& g = a.g;
  ValueId q = g.linear(a.x, g.matrix("q", 32, 64), g.vector("q_bias", 32));
  q = g.rope(g.head_norm(q, g.vector("gain", 16), 16, 1e-5f), a.angles, a.rope);
  const ValueId k = g.rope(g.linear(a.x, g.matrix("k", 16, 64)), a.angles, a.rope);
  g.kv_write(k, HeadRole::key, 16, a.kv);
  g.kv_write(g.linear(a.x, g.matrix("v", 16, 64)), HeadRole::value, 16, a.kv);
  Graph graph = g.finish(a.attend(q));
  run_pass(graph, "fuse_head");
  EXPECT_EQ(print_graph(graph),
            "%0:f32[64] = embed embd:F32\n"
            "%1:f32[4] = rope_angles table=0\n"
            "%4:f32[32] = linear_head %0 %1 role=query heads=2 q:Q4_0 q_bias:F32 gain:F32\n"
            "linear_head %0 %1 role=key heads=1 kv=0.0 k:Q4_0\n"
            "linear_head %0 role=value heads=1 kv=0.0 v:Q4_0\n"
            "%8:f32[32] = attention %4 heads=2/1 dim=16 window=0 kv=0.0\n");
  EXPECT_EQ(graph.nodes[2].attributes.eps, 1e-5f);
  EXPECT_EQ(graph.nodes[2].attributes.rope.pairs, 2);
}

TEST(FuseHead, LeavesAValueAloneThatIsReadElsewhere) {
  Attention a;
  SmallGraph& g = a.g;
  const ValueId k = g.linear(a.x, g.matrix("k", 16, 64));
  const ValueId rotated = g.rope(k, a.angles, a.rope);
  g.kv_write(rotated, HeadRole::key, 16, a.kv);
  g.kv_write(k, HeadRole::value, 16, a.kv);  // k has two readers, and so has its rotation below
  const ValueId o = a.attend(g.linear(a.x, g.matrix("q", 32, 64)));
  Graph graph = g.finish(g.add(o, g.linear(rotated, g.matrix("w", 32, 16, "F32"))));
  const std::string before = print_graph(graph);
  run_pass(graph, "fuse_head");
  EXPECT_EQ(print_graph(graph), before);
}

TEST(FuseGlu, JoinsTwoLinearsOfOneInputAndFormat) {
  SmallGraph g;
  const ValueId x = g.embedding(64);
  const ValueId gate = g.linear(x, g.matrix("gate", 32, 64));
  const ValueId up = g.linear(x, g.matrix("up", 32, 64), g.vector("up_bias", 32));
  Graph graph = g.finish(g.glu(gate, up, Activation::gelu_tanh));
  run_pass(graph, "fuse_glu");
  EXPECT_EQ(print_graph(graph),
            "%0:f32[64] = embed embd:F32\n"
            "%3:f32[32] = linear_glu %0 act=gelu_tanh gate:Q4_0 up:Q4_0 up_bias:F32\n");
  EXPECT_FALSE(graph.nodes[1].weights[2]);
  EXPECT_TRUE(graph.nodes[1].weights[3]);
}

TEST(FuseGlu, NeedsOneFormatOneInputAndNoOtherReader) {
  for (const char* difference : {"format", "input", "reader", "same"}) {
    SmallGraph g;
    const ValueId x = g.embedding(64);
    const bool other_input = std::string_view(difference) == "input";
    const bool other_format = std::string_view(difference) == "format";
    const ValueId gate = g.linear(x, g.matrix("gate", 64, 64));
    ValueId up = g.linear(other_input ? g.embedding(64) : x,
                          g.matrix("up", 64, 64, other_format ? "Q8_0" : "Q4_0"));
    if (std::string_view(difference) == "same") up = gate;
    ValueId y = g.glu(gate, up, Activation::silu);
    if (std::string_view(difference) == "reader") y = g.add(y, gate);
    Graph graph = g.finish(y);
    run_pass(graph, "fuse_glu");
    EXPECT_EQ(print_graph(graph).find("linear_glu"), std::string::npos) << difference;
  }
}

TEST(FuseResidual, AddsTheResidualInTheLinear) {
  for (const bool is_left : {false, true}) {
    SmallGraph g;
    const ValueId x = g.embedding(64);
    const ValueId y = g.linear(x, g.matrix("w", 64, 64), g.vector("bias", 64));
    Graph graph = g.finish(is_left ? g.add(y, x) : g.add(x, y));
    run_pass(graph, "fuse_residual");
    EXPECT_EQ(print_graph(graph),
              "%0:f32[64] = embed embd:F32\n"
              "%2:f32[64] = linear_add %0 %0 w:Q4_0 bias:F32\n");
  }
}

TEST(FuseResidual, LeavesALinearAloneThatIsReadElsewhere) {
  SmallGraph g;
  const ValueId x = g.embedding(64);
  const ValueId y = g.linear(x, g.matrix("w", 64, 64));
  Graph graph = g.finish(g.add(g.add(x, y), g.add(y, y)));
  const std::string before = print_graph(graph);
  run_pass(graph, "fuse_residual");
  EXPECT_EQ(print_graph(graph), before);
}

TEST(FuseNorm, TakesInTheAddAndTheNormOfItsDelta) {
  SmallGraph g;
  const ValueId x = g.embedding(64);
  const ValueId y = g.linear(x, g.matrix("w", 64, 64));
  const ValueId delta = g.rms_norm(y, g.vector("post", 64), 1e-5f);
  const ValueId sum = g.add(x, delta);
  const ValueId normed = g.rms_norm(sum, g.vector("next", 64), 1e-5f);
  Graph graph = g.finish(g.add(sum, g.linear(normed, g.matrix("v", 64, 64))));
  run_pass(graph, "fuse_norm");
  EXPECT_EQ(print_graph(graph),
            "%0:f32[64] = embed embd:F32\n"
            "%1:f32[64] = linear %0 w:Q4_0\n"
            "%3:f32[64], %4:f32[64] = norm %0 %1 next:F32 post:F32\n"
            "%5:f32[64] = linear %4 v:Q4_0\n"
            "%6:f32[64] = add %3 %5\n");
}

TEST(FuseNorm, KeepsANormOfTheDeltaWithAnotherEpsilonOrReader) {
  for (const bool other_epsilon : {true, false}) {
    SmallGraph g;
    const ValueId x = g.embedding(64);
    const ValueId delta = g.rms_norm(x, g.vector("post", 64), other_epsilon ? 1e-6f : 1e-5f);
    ValueId y = g.rms_norm(g.add(x, delta), g.vector("next", 64), 1e-5f);
    if (!other_epsilon) y = g.add(y, delta);
    Graph graph = g.finish(y);
    run_pass(graph, "fuse_norm");
    EXPECT_NE(print_graph(graph).find("%1:f32[64] = norm %0 post:F32\n"
                                      "%2:f32[64], %3:f32[64] = norm %0 %1 next:F32\n"),
              std::string::npos)
        << print_graph(graph);
  }
}

TEST(FuseNorm, OnlyTheFirstNormOfASumTakesInTheAdd) {
  SmallGraph g;
  const ValueId x = g.embedding(64);
  const ValueId sum = g.add(x, x);
  const ValueId a = g.rms_norm(sum, g.vector("a", 64), 1e-5f);
  const ValueId b = g.rms_norm(sum, g.vector("b", 64), 1e-5f);
  Graph graph = g.finish(g.add(a, b));
  run_pass(graph, "fuse_norm");
  EXPECT_EQ(print_graph(graph),
            "%0:f32[64] = embed embd:F32\n"
            "%1:f32[64], %2:f32[64] = norm %0 %0 a:F32\n"
            "%3:f32[64] = norm %1 b:F32\n"
            "%4:f32[64] = add %2 %3\n");
}

TEST(FuseConvert, LetsTheMakerWriteEveryFormThatIsRead) {
  SmallGraph g;
  const ValueId normed = g.rms_norm(g.embedding(64), g.vector("gain", 64), 1e-5f);
  const ValueId a = g.linear(normed, g.matrix("a", 64, 64, "Q4_0"));
  const ValueId b = g.linear(normed, g.matrix("b", 64, 64, "F16"));
  const ValueId gated = g.glu(a, b, Activation::silu);
  Graph graph = g.finish(g.linear(gated, g.matrix("down", 64, 64, "BF16")));
  run_pass(graph, "lower_activations");
  run_pass(graph, "fuse_norm");
  run_pass(graph, "fuse_convert");
  EXPECT_EQ(print_graph(graph),
            "%0:f32[64] = embed embd:F32\n"
            "%1:f32[64], %6:int8[64] = norm %0 gain:F32\n"
            "%2:f32[64] = linear %6 a:Q4_0\n"
            "%3:f32[64] = linear %1 b:F16\n"
            "%7:bf16[64] = glu %2 %3 act=silu\n"
            "%5:f32[64] = linear %7 down:BF16\n");
}

TEST(FuseConvert, LeavesTheSumOfANormAndHeadsThatSplitAGroupAlone) {
  // The sum is read by a linear too; heads of 48 elements end within groups of 32.
  SmallGraph g;
  const ValueId x = g.embedding(96);
  const ValueId sum = g.add(x, x);
  const ValueId normed = g.rms_norm(sum, g.vector("gain", 96), 1e-5f);
  const KvLayer kv = g.kv_layer({.kv_heads = 1, .head_dim = 48});
  g.kv_write(g.linear(normed, g.matrix("k", 48, 96)), HeadRole::key, 48, kv);
  g.kv_write(g.linear(normed, g.matrix("v", 48, 96)), HeadRole::value, 48, kv);
  const ValueId o = g.attention(normed, {.heads = 2, .kv_heads = 1, .head_dim = 48});
  const ValueId y = g.linear(sum, g.matrix("w", 96, 96));
  Graph graph = g.finish(g.add(y, g.linear(o, g.matrix("o", 96, 96))));
  run_pass(graph, "lower_activations");
  run_pass(graph, "fuse_norm");
  run_pass(graph, "fuse_convert");
  const std::string text = print_graph(graph);
  EXPECT_NE(text.find("convert %1\n"), std::string::npos) << text;  // the sum
  EXPECT_NE(text.find("convert %5\n"), std::string::npos) << text;  // the attention
  EXPECT_NE(text.find("%1:f32[96], %2:f32[96], %9:int8[96] = norm"), std::string::npos) << text;
}

TEST(HoistSelectRows, MovesTheSelectionBehindTheLastStore) {
  Attention a;
  SmallGraph& g = a.g;
  g.kv_write(g.linear(a.x, g.matrix("k", 16, 64)), HeadRole::key, 16, a.kv);
  g.kv_write(g.linear(a.x, g.matrix("v", 16, 64)), HeadRole::value, 16, a.kv);
  const ValueId q = g.linear(a.x, g.matrix("q", 32, 64));
  const ValueId y = g.add(a.x, g.linear(a.attend(q), g.matrix("o", 64, 32)));
  const ValueId selected = g.select_rows(g.rms_norm(y, g.vector("gain", 64), 1e-5f));
  Graph graph = g.finish(g.linear(selected, g.matrix("head", 100, 64)));
  run_pass(graph, "hoist_select_rows");
  EXPECT_EQ(print_graph(graph),
            "%0:f32[64] = embed embd:F32\n"
            "%1:f32[4] = rope_angles table=0\n"
            "%2:f32[16] = linear %0 k:Q4_0\n"
            "kv_write %2 role=key heads=1 kv=0.0\n"
            "%3:f32[16] = linear %0 v:Q4_0\n"
            "kv_write %3 role=value heads=1 kv=0.0\n"
            "%11:f32[output,64] = select_rows %0\n"
            "%4:f32[output,32] = linear %11 q:Q4_0\n"
            "%5:f32[output,32] = attention %4 heads=2/1 dim=16 window=0 kv=0.0\n"
            "%6:f32[output,64] = linear %5 o:Q4_0\n"
            "%7:f32[output,64] = add %11 %6\n"
            "%8:f32[output,64] = rms_norm %7 gain:F32\n"
            "%10:f32[output,100] = linear %8 head:Q4_0\n");
}

TEST(HoistSelectRows, LeavesASelectionWithoutWorkBehindTheLastStoreAlone) {
  Attention a;
  SmallGraph& g = a.g;
  const ValueId k = g.linear(a.x, g.matrix("k", 16, 64));
  g.kv_write(k, HeadRole::key, 16, a.kv);
  Graph graph = g.finish(g.select_rows(k));
  const std::string before = print_graph(graph);
  run_pass(graph, "hoist_select_rows");
  EXPECT_EQ(print_graph(graph), before);
}

TEST(SortNodes, PutsDefinitionsAndStoresFirstAndKeepsTheRest) {
  Attention a;
  SmallGraph& g = a.g;
  const ValueId q = g.linear(a.x, g.matrix("q", 32, 64));
  const ValueId k = g.linear(a.x, g.matrix("k", 16, 64));
  g.kv_write(k, HeadRole::key, 16, a.kv);
  g.kv_write(k, HeadRole::value, 16, a.kv);
  Graph graph = g.finish(a.attend(q));
  const std::string sorted = print_graph(graph);
  std::swap(graph.nodes[0], graph.nodes[4]);  // store before its value
  std::swap(graph.nodes[5], graph.nodes[6]);  // attention before a store
  EXPECT_THROW(verify(graph), std::logic_error);
  sort_nodes(graph);
  verify(graph);
  auto place = [&](const char* line) { return print_graph(graph).find(line); };
  EXPECT_LT(place("embed"), place("linear %0 k"));
  EXPECT_LT(place("kv_write %3 role=value"), place("attention"));
  sort_nodes(graph);
  EXPECT_EQ(print_graph(graph).size(), sorted.size());
}

TEST(SortNodes, RefusesACycle) {
  SmallGraph g;
  const ValueId x = g.embedding(64);
  const ValueId a = g.add(x, x);
  const ValueId b = g.add(a, x);
  Graph graph = g.finish(b);
  graph.nodes[1].inputs[0] = b;
  EXPECT_THROW(sort_nodes(graph), std::logic_error);
}

TEST(CleanUp, DropsChainsNobodyReadsButNoStore) {
  Attention a;
  SmallGraph& g = a.g;
  g.add(g.add(a.x, a.x), a.x);
  const ValueId k = g.linear(a.x, g.matrix("k", 16, 64));
  g.kv_write(k, HeadRole::key, 16, a.kv);
  Graph graph = g.finish(g.linear(a.x, g.matrix("head", 100, 64)));
  clean_up(graph);
  EXPECT_EQ(print_graph(graph),
            "%0:f32[64] = embed embd:F32\n"
            "%4:f32[16] = linear %0 k:Q4_0\n"
            "kv_write %4 role=key heads=1 kv=0.0\n"
            "%5:f32[100] = linear %0 head:Q4_0\n");
}

}  // namespace
}  // namespace arion
