// Hyper-parameters and tensors of model files, and the messages about bad ones.
#include "model/model.h"

#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "model/edit_model.h"

namespace arion {
namespace {

using test::Edit;
using test::TinyModel;

// Two layers of llama, small enough to be written hundreds of times.
std::string base(const char* arch = "llama") {
  TinyModel tiny{.arch = arch, .hidden = 32, .feed_forward = 32, .vocab = 32};
  tiny.head_dim = 8;
  return test::write_tiny_model(tiny);
}

// The message of the error, "" if the model is accepted.
std::string refusal(const Edit& edit, const std::string& from = base()) {
  const std::string bytes = test::edit_model(from, edit);
  try {
    describe_model(test::open_in_memory(bytes));
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input) << error.what();
    return error.what();
  }
}

Model describe(const Edit& edit, std::string& bytes, const std::string& from = base()) {
  bytes = test::edit_model(from, edit);
  return describe_model(test::open_in_memory(bytes));
}

Edit set_u32(const char* key, uint32_t value) {
  return {{key}, [=](GgufWriter& w) { w.add_u32(key, value); }};
}
Edit set_f32(const char* key, float value) {
  return {{key}, [=](GgufWriter& w) { w.add_f32(key, value); }};
}
Edit set_string(const char* key, const char* value) {
  return {{key}, [=](GgufWriter& w) { w.add_string(key, value); }};
}
Edit set_array(const char* key, std::vector<uint32_t> values) {
  return {{key}, [=](GgufWriter& w) { w.add_u32s(key, values); }};
}
Edit add_vector(const char* name, uint64_t size, float value) {
  return {{name}, [=](GgufWriter& w) {
            std::vector<float> values(size, value);
            const auto data = std::as_bytes(std::span(values));
            w.add_tensor(name, std::array{size}, 0, std::vector(data.begin(), data.end()));
          }};
}

TEST(ModelConfig, AcceptsTheBase) {
  for (const char* arch : {"llama", "qwen2", "qwen3", "gemma3"})
    EXPECT_EQ(refusal({}, base(arch)), "");
}

TEST(ModelConfig, ErrorsNameTheKey) {
  struct Case {
    const char* key;
    Edit edit;
  };
  const char* const kLayers = "llama.block_count";
  const char* const kHidden = "llama.embedding_length";
  const char* const kHeads = "llama.attention.head_count";
  const char* const kKvHeads = "llama.attention.head_count_kv";
  const char* const kInner = "llama.feed_forward_length";
  const char* const kContext = "llama.context_length";
  const char* const kHeadDim = "llama.attention.key_length";
  const char* const kRotated = "llama.rope.dimension_count";
  const char* const kEpsilon = "llama.attention.layer_norm_rms_epsilon";
  const char* const kBase = "llama.rope.freq_base";
  const char* const kScaling = "llama.rope.scaling.type";
  const Case cases[] = {
      {kLayers, {{kLayers}}},
      {kLayers, set_u32(kLayers, 0)},
      {kLayers, set_u32(kLayers, 4'000'000'000u)},
      {kLayers, set_string(kLayers, "1")},
      {kLayers, set_array(kLayers, {2})},
      {kHidden, {{kHidden}}},
      {kHidden, set_u32(kHidden, 0)},
      {kContext, {{kContext}}},
      {kContext, set_u32(kContext, 0)},
      {kHeads, {{kHeads}}},
      {kHeads, set_u32(kHeads, 0)},
      {kHeads, set_u32(kHeads, 5'000)},
      {kHeads, set_array(kHeads, {4, 4, 4})},
      {kHeads,
       {{kHeads, kHeadDim, "llama.attention.value_length"},
        [&](GgufWriter& w) { w.add_u32(kHeads, 6); }}},
      {kKvHeads, set_u32(kKvHeads, 0)},
      {kKvHeads, set_u32(kKvHeads, 3)},
      {kKvHeads, set_array(kKvHeads, {2, 0})},
      {kInner, {{kInner}}},
      {kInner, set_u32(kInner, 0)},
      {kHeadDim, set_u32(kHeadDim, 0)},
      {kHeadDim, set_u32(kHeadDim, 514)},
      {"llama.attention.value_length", set_u32("llama.attention.value_length", 16)},
      {kRotated, set_u32(kRotated, 0)},
      {kRotated, set_u32(kRotated, 7)},
      {kRotated, set_u32(kRotated, 100'000)},
      {kEpsilon, {{kEpsilon}}},
      {kEpsilon, set_f32(kEpsilon, NAN)},
      {kEpsilon, set_f32(kEpsilon, -1.0f)},
      {kEpsilon, set_u32(kEpsilon, 1)},
      {kBase, set_f32(kBase, 0.0f)},
      {kBase, set_f32(kBase, 1.0f)},
      {kBase, set_f32(kBase, INFINITY)},
      {"llama.vocab_size", set_u32("llama.vocab_size", 33)},
      {"llama.attention.scale", set_f32("llama.attention.scale", -1.0f)},
      {kScaling, set_string(kScaling, "longrope")},
      {kScaling, set_string(kScaling, "\x1b[31m")},
      {"llama.rope.scaling.factor", set_f32("llama.rope.scaling.factor", -2.0f)},
      {"llama.expert_count", set_u32("llama.expert_count", 8)},
      {"llama.logit_scale", set_f32("llama.logit_scale", 0.5f)},
      {"llama.final_logit_softcapping", set_f32("llama.final_logit_softcapping", 30.0f)},
      {"llama.attn_logit_softcapping", set_f32("llama.attn_logit_softcapping", 50.0f)},
      {"llama.embedding_scale", set_string("llama.embedding_scale", "12")},
      {"llama.attention.causal",
       {{}, [](GgufWriter& w) { w.add_bool("llama.attention.causal", false); }}},
      {"general.architecture", {{"general.architecture"}}},
      {"tokenizer.ggml.tokens", set_string("tokenizer.ggml.model", "llama")},
  };
  for (const Case& c : cases) {
    const std::string message = refusal(c.edit);
    EXPECT_NE(message.find(c.key), std::string::npos) << c.key << ": '" << message << "'";
    EXPECT_EQ(message.find('\x1b'), std::string::npos) << message;
  }
}

TEST(ModelConfig, NamesTheArchitecturesThereAre) {
  const std::string message = refusal(set_string("general.architecture", "nosuch"));
  EXPECT_NE(message.find("nosuch"), std::string::npos) << message;
  for (const ArchSpec& spec : arch_specs()) {
    EXPECT_NE(message.find(spec.name), std::string::npos) << message;
  }
}

TEST(ModelConfig, TakesNeutralValuesAsAbsent) {
  EXPECT_EQ(refusal(set_f32("llama.logit_scale", 0.0f)), "");
  EXPECT_EQ(refusal(set_f32("llama.residual_scale", 1.0f)), "");
  EXPECT_EQ(refusal(set_u32("llama.expert_count", 0)), "");
  EXPECT_EQ(refusal(set_f32("llama.rope.scaling.factor", 0.0f)), "");
  EXPECT_EQ(refusal(set_string("llama.rope.scaling.type", "none")), "");
  std::string bytes;
  const Model model = describe(set_f32("llama.attention.scale", 0.0f), bytes);
  EXPECT_FLOAT_EQ(model.config.attention_scale, 1.0f / std::sqrt(8.0f));
}

TEST(ModelConfig, FillsInWhatTheFileDoesNotSay) {
  std::string bytes;
  const Edit edit{
      {"llama.attention.key_length", "llama.attention.value_length", "llama.rope.freq_base"}};
  const Model model = describe(edit, bytes);
  EXPECT_EQ(model.config.head_dim, 8);
  EXPECT_EQ(model.config.rope_dims, 8);
  EXPECT_EQ(model.config.rope_base, 10000);
  EXPECT_EQ(model.config.vocab, 32);
  EXPECT_EQ(model.config.embedding_scale, 1);
}

TEST(ModelConfig, ReadsPatternsOfWindows) {
  TinyModel tiny{.arch = "gemma3", .layers = 7, .hidden = 32, .feed_forward = 32, .vocab = 32};
  tiny.window = 16;
  const std::string gemma = test::write_tiny_model(tiny);
  auto windows = [&](const Edit& edit) {
    std::string bytes, text;
    const Model model = describe(edit, bytes, gemma);
    for (const LayerConfig& layer : model.config.layers) text += layer.window > 0 ? 'w' : 'f';
    return text;
  };
  const char* key = "gemma3.attention.sliding_window_pattern";
  EXPECT_EQ(windows({}), "wwwwwfw");  // the period of the architecture is 6
  EXPECT_EQ(windows(set_u32(key, 2)), "wfwfwfw");
  EXPECT_EQ(windows(set_u32(key, 1)), "fffffff");
  EXPECT_EQ(windows(set_u32(key, 0)), "wwwwwww");
  EXPECT_EQ(windows(set_u32("gemma3.attention.sliding_window", 0)), "fffffff");
}

TEST(ModelConfig, ScalesScoresAndEmbeddingsOfGemma) {
  std::string bytes;
  const Model model = describe({}, bytes, base("gemma3"));
  EXPECT_FLOAT_EQ(model.config.embedding_scale, std::sqrt(32.0f));
  EXPECT_FLOAT_EQ(model.config.attention_scale, 1.0f / std::sqrt(8.0f));
}

TEST(Model, NamesMissingTensors) {
  for (const char* tensor :
       {"token_embd.weight", "output_norm.weight", "blk.0.attn_q.weight", "blk.1.attn_v.weight",
        "blk.1.attn_output.weight", "blk.0.ffn_down.weight", "blk.0.attn_norm.weight"}) {
    const std::string message = refusal({{tensor}});
    EXPECT_NE(message.find(tensor), std::string::npos) << message;
  }
}

TEST(Model, NamesTensorsNobodyUses) {
  for (const char* tensor : {"blk.0.attn_q_scale.weight", "blk.2.attn_q.weight", "nonsense",
                             "rope_factors_long.weight"}) {
    const std::string message = refusal(add_vector(tensor, 32, 1.0f));
    EXPECT_NE(message.find(tensor), std::string::npos) << message;
  }
}

TEST(Model, NamesTensorsOfTheWrongShape) {
  const std::string message = refusal(add_vector("blk.1.ffn_norm.weight", 31, 1.0f));
  EXPECT_NE(message.find("blk.1.ffn_norm.weight has shape [31], expected [32]"), std::string::npos)
      << message;
  EXPECT_NE(refusal(set_u32("llama.feed_forward_length", 33)).find("ffn_gate.weight has shape"),
            std::string::npos);
}

TEST(Model, TakesOptionalTensorsWhereverTheyAre) {
  EXPECT_EQ(refusal(add_vector("blk.0.attn_q.bias", 32, 1.0f)), "");
  EXPECT_EQ(refusal(add_vector("blk.1.ffn_down.bias", 32, 1.0f)), "");
  EXPECT_EQ(refusal(add_vector("blk.1.attn_k_norm.weight", 8, 1.0f)), "");
  EXPECT_EQ(refusal(add_vector("output.bias", 32, 1.0f)), "");
}

TEST(Model, TakesFactorsOfMatrices) {
  EXPECT_EQ(refusal(add_vector("blk.0.attn_q.input_scale", 1, 2.0f)), "");
  std::string bytes;
  const Model model = describe(add_vector("blk.0.attn_q.scale", 1, 0.5f), bytes);
  for (const Weight& weight : model.graph.weights) {
    EXPECT_EQ(weight.scale, weight.name == "blk.0.attn_q.weight" ? 0.5f : 1.0f) << weight.name;
  }
  EXPECT_NE(print_graph(model.graph).find("blk.0.attn_q.weight:F32*0.5"), std::string::npos);
}

TEST(Model, RefusesFactorsThatAreNotOneFiniteNumber) {
  const char* const kScale = "blk.1.ffn_up.scale";
  EXPECT_NE(refusal(add_vector(kScale, 1, NAN)).find("ffn_up.scale holds nan"), std::string::npos);
  EXPECT_NE(refusal(add_vector(kScale, 2, 1.0f)).find("has shape [2], expected [1]"),
            std::string::npos);
  const std::string unused = refusal(add_vector("blk.1.ffn_norm.scale", 1, 1.0f));
  EXPECT_NE(unused.find("blk.1.ffn_norm.scale"), std::string::npos) << unused;
}

TEST(Model, UsesTheEmbeddingAsHeadWhenThereIsNone) {
  std::string tied_bytes, untied_bytes;
  const Model tied = describe({{"output.weight"}}, tied_bytes);
  const Model untied = describe({}, untied_bytes);
  auto head = [](const Model& m) { return m.graph.weight(m.graph.nodes.back().weights[0]).name; };
  EXPECT_EQ(head(tied), "token_embd.weight");
  EXPECT_EQ(head(untied), "output.weight");
  EXPECT_EQ(tied.graph.weights.size() + 1, untied.graph.weights.size());
}

TEST(Model, GroupsLayersByTheShapeOfTheirKv) {
  TinyModel tiny{.arch = "gemma3", .layers = 7, .hidden = 32, .feed_forward = 32, .vocab = 32};
  tiny.window = 16;
  tiny.window_period = 3;
  const std::string bytes = test::write_tiny_model(tiny);
  const Model model = describe_model(test::open_in_memory(bytes));
  ASSERT_EQ(model.graph.kv_groups.size(), 2u);
  EXPECT_EQ(model.graph.kv_groups[0].window, 16);
  EXPECT_EQ(model.graph.kv_groups[0].layers, 5);
  EXPECT_EQ(model.graph.kv_groups[1].window, 0);
  EXPECT_EQ(model.graph.kv_groups[1].layers, 2);
}

TEST(Model, RefusesAVocabularyThatIsNotTheEmbeddings) {
  const Edit edit{{}, [](GgufWriter& w) {
                    w.add_string("tokenizer.ggml.model", "gpt2");
                    w.add_strings("tokenizer.ggml.tokens", std::vector<std::string>(31, "a"));
                  }};
  EXPECT_NE(refusal(edit).find("tokenizer.ggml.tokens has 31 entries"), std::string::npos);
}

}  // namespace
}  // namespace arion
