// Pins which kernels, fused how and behind which barriers, the plan of a model runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/reference_kernels.h"
#include "graph/pass.h"
#include "graph/plan.h"
#include "model/model.h"
#include "model/tiny_model.h"
#include "test_data.h"

namespace arion {
namespace {

// "norm>int8": a kernel and the forms it writes besides f32; "[c4/a]": the weights it reads.
std::string step_text(const Graph& graph, const Node& node) {
  std::string text(op_name(node.kind));
  if (!node.weights.empty() && text.starts_with("linear")) {
    const PanelSpec spec = graph.weight(node.weights[0]).format->panel();
    text += fmt::format("[{}/{}]", codec_name(spec.codec), scale_mode_name(spec.mode));
  }
  for (ValueId out : node.outputs) {
    if (graph.value(out).form != ActivationForm::f32)
      text += fmt::format(">{}", activation_form_name(graph.value(out).form));
  }
  return text;
}

// One line per scope; "|" where workers wait for each other.
std::string plan_text(Model model, const PassOptions& options = {}) {
  run_passes(model.graph, all_passes(), options);
  KernelRegistry kernels;
  register_reference_kernels(kernels);
  const PackedWeights weights = PackedWeights::shapes_of(model.graph);
  const ExecutionPlan plan =
      Planner(model.graph, weights, kernels).plan({.rows = 1, .workers = 2}, nullptr);
  std::string text, scope;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Node& node = model.graph.nodes[s];
    EXPECT_EQ(node.kind, plan.steps[s].kind);
    if (node.scope != scope) {
      text += (text.empty() ? "" : "\n") + node.scope + ":";
      scope = node.scope;
    }
    text += (plan.steps[s].has_barrier ? " | " : " ") + step_text(model.graph, node);
  }
  return text + "\n";
}

std::string golden_plan(const char* arch, const PassOptions& options = {}) {
  const auto path = test::source_dir() / "tests/golden/model" / (std::string(arch) + ".gguf");
  return plan_text(describe_model(GgufFile::open(path)), options);
}

std::string tiny_plan(const char* arch, int block, const test::FormatOf& format) {
  test::TinyModel model = test::tiny_shape(arch, block);
  model.layers = 1;
  model.vocab = 32;
  model.format = format;
  const std::string bytes = test::write_tiny_model(model);
  return plan_text(describe_model(test::open_in_memory(bytes)));
}

// W: the weights, >A: the form their input is converted to.
constexpr const char* kEmbedding = "embedding: embed rope_angles\n";
constexpr const char* kHead = "head: | norm>A linear[W]\n";
constexpr const char* kLayer =
    " norm>A linear_head[W] linear_head[W] linear_head[W] | attention>A | linear_add[W]"
    " | norm>A linear_glu[W]>A | linear_add[W]\n";
constexpr const char* kLastLayer =
    " norm>A linear_head[W] linear_head[W] linear_head[W] | select_rows attention>A select_rows"
    " | linear_add[W] | norm>A linear_glu[W]>A | linear_add[W]\n";
// With norms behind attention and feed-forward, the residual is added by the next norm.
constexpr const char* kSandwichLayer =
    " norm>A linear_head[W] linear_head[W] linear_head[W] | attention>A | linear[W]"
    " | norm>A linear_glu[W]>A | linear[W]\n";
constexpr const char* kLastSandwichLayer =
    " norm>A linear_head[W] linear_head[W] linear_head[W] | select_rows attention>A"
    " | linear[W] select_rows | norm>A linear_glu[W]>A | linear[W]\n";

std::string layer(int index, const std::string& steps) {
  return fmt::format("layer {}:{}{}", index, index > 0 ? " |" : "", steps);
}

std::string fill(std::string text, const std::string& weights, const std::string& form) {
  auto replace = [&](const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("[W]", "[" + weights + "]");
  replace(">A", form);
  return text;
}

TEST(FusedKernels, OfModelsWithoutPostNorms) {
  const std::string plan = kEmbedding + layer(0, kLayer) + layer(1, kLastLayer) + kHead;
  for (const char* arch : {"llama", "qwen2", "qwen3"}) {
    EXPECT_EQ(golden_plan(arch), fill(plan, "f32/none", "")) << arch;
    EXPECT_EQ(golden_plan(arch, {.activations = ActivationForm::bf16}),
              fill(plan, "f32/none", ">bf16"))
        << arch;
  }
}

TEST(FusedKernels, OfGemma3) {
  const std::string plan = "embedding: embed rope_angles rope_angles\n" + layer(0, kSandwichLayer) +
                           layer(1, kSandwichLayer) + layer(2, kSandwichLayer) +
                           layer(3, kLastSandwichLayer) + kHead;
  EXPECT_EQ(golden_plan("gemma3"), fill(plan, "f32/none", ""));
  EXPECT_EQ(golden_plan("gemma3", {.activations = ActivationForm::bf16}),
            fill(plan, "f32/none", ">bf16"));
}

TEST(FusedKernels, OfEveryFormat) {
  struct Case {
    const char *format, *weights, *form;
    int block;
  };
  constexpr Case kCases[] = {
      {"F16", "f16/none", "", 32},          {"BF16", "bf16/none", ">bf16", 32},
      {"Q8_0", "c8/a", ">int8", 32},        {"Q4_0", "c4/a", ">int8", 32},
      {"Q4_1", "c4/b", ">int8", 32},        {"Q5_0", "c5/a", ">int8", 32},
      {"Q5_1", "c5/b", ">int8", 32},        {"Q4_K", "c4/d32", ">int8", 256},
      {"Q5_K", "c5/d32", ">int8", 256},     {"Q6_K", "c6/d16", ">int8", 256},
      {"Q2_K", "c2/d16m", ">int8", 256},    {"Q3_K", "c3/d16", ">int8", 256},
      {"IQ1_S", "t3/d32s", ">int8", 256},   {"IQ1_M", "t3/d16", ">int8", 256},
      {"IQ2_XXS", "t3/d32s", ">int8", 256}, {"IQ2_XS", "t3/d16", ">int8", 256},
      {"IQ2_S", "t3/d16", ">int8", 256},    {"IQ3_XXS", "t4/d32s", ">int8", 256},
      {"IQ3_S", "t4/d32s", ">int8", 256},   {"IQ4_NL", "t4/a", ">int8", 32},
      {"IQ4_XS", "t4/d32s", ">int8", 256},  {"TQ1_0", "c2/a128", ">int8", 256},
      {"TQ2_0", "c2/a128", ">int8", 256},   {"MXFP4", "t4/e32", ">int8", 32},
      {"NVFP4", "t4/e16", ">int8", 64},     {"Q1_0", "c1/a128", ">int8", 128},
      {"Q2_0", "c2/a64", ">int8", 64},
  };
  for (const Case& c : kCases) {
    const auto format = test::all_in(c.format);
    const std::string plain = kEmbedding + layer(0, kLastLayer) + kHead;
    for (const char* arch : {"llama", "qwen2", "qwen3"}) {
      EXPECT_EQ(tiny_plan(arch, c.block, format), fill(plain, c.weights, c.form))
          << arch << " " << c.format;
    }
    const std::string gemma = kEmbedding + layer(0, kLastSandwichLayer) + kHead;
    EXPECT_EQ(tiny_plan("gemma3", c.block, format), fill(gemma, c.weights, c.form)) << c.format;
  }
}

TEST(FusedKernels, OfTheFallbackMix) {
  EXPECT_EQ(tiny_plan("gemma3", 256, test::fallback_mix()),
            "embedding: embed rope_angles\n"
            "layer 0: norm>int8 linear_head[c5/a] linear_head[c5/a] linear_head[c8/a]"
            " | select_rows attention>int8 | linear[c4/d32] select_rows"
            " | norm>int8 linear_glu[c5/a]>int8 | linear[c6/d16]\n"
            "head: | norm>int8 linear[c8/a]\n");
}

TEST(FusedKernels, OfProjectionsInThreeForms) {
  const auto format = [](std::string_view tensor) -> std::string {
    if (tensor == "attn_q") return "Q4_0";
    if (tensor == "attn_k") return "BF16";
    return tensor == "ffn_up" ? "Q8_0" : "F16";
  };
  EXPECT_EQ(tiny_plan("llama", 32, format),
            "embedding: embed rope_angles\n"
            "layer 0: norm>int8>bf16 linear_head[c4/a] linear_head[bf16/none] linear_head[f16/none]"
            " | select_rows attention select_rows | linear_add[f16/none]"
            " | norm>int8 linear[f16/none] linear[c8/a] | glu | linear_add[f16/none]\n"
            "head: | norm linear[f16/none]\n");
}

}  // namespace
}  // namespace arion
