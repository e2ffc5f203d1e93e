// arion inspect on the tiny models of this tree and on files that are no models.
#include <nlohmann/json.hpp>

#include "compress/importance.h"
#include "model/edit_model.h"
#include "program.h"

namespace arion::test {
namespace {

TEST(Inspect, PrintsMetadataTensorsAndTotalsAsJson) {
  const Outcome outcome = run_arion("inspect --json " + tiny("qwen3"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["version"], 3);
  EXPECT_EQ(json["metadata"]["general.architecture"], "qwen3");
  EXPECT_EQ(json["metadata"]["qwen3.attention.key_length"], 32);
  EXPECT_EQ(json["metadata"]["qwen3.rope.freq_base"], 1000000.0);
  ASSERT_FALSE(json["tensors"].empty());
  uint64_t parameters = 0;
  for (const auto& tensor : json["tensors"]) {
    uint64_t values = 1;
    for (const uint64_t dim : tensor["dims"]) values *= dim;
    parameters += values;
    EXPECT_EQ(tensor["type"], "F32");
    EXPECT_EQ(tensor["bytes"], values * 4);
    EXPECT_EQ(tensor["supported"], true);
  }
  EXPECT_EQ(json["parameters"], parameters);
}

TEST(Inspect, PrintsLongArraysOnlyInFull) {
  const std::string path = (corpus_dir() / "data/models/stories260K.gguf").string();
  ARION_REQUIRE_CORPUS(path);
  const auto brief = nlohmann::json::parse(run_arion("inspect --json " + path).out);
  EXPECT_EQ(brief["metadata"]["tokenizer.ggml.tokens"]["count"], 512);
  const auto full = nlohmann::json::parse(run_arion("inspect --json --full " + path).out);
  EXPECT_EQ(full["metadata"]["tokenizer.ggml.tokens"].size(), 512u);
}

TEST(Inspect, ShowsEveryTensorAndKeyAsText) {
  const Outcome outcome = run_arion("inspect " + tiny("gemma3"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* expected : {"gemma3.attention.sliding_window", "blk.3.post_ffw_norm.weight",
                               "tokenizer.ggml.tokens", "F32"}) {
    EXPECT_NE(outcome.out.find(expected), std::string::npos) << expected;
  }
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << "colour without a terminal";
}

TEST(Inspect, RefusesWhatIsNoModel) {
  const TempDir folder;
  const std::string path = folder.write("x.gguf", "GGUFnonsense").string();
  const Outcome outcome = run_arion("inspect " + path);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("x.gguf"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST(Inspect, ShowsModelsOfArchitecturesThatItDoesNotKnow) {
  const TempDir folder;
  const Edit edit{{"general.architecture"},
                  [](GgufWriter& w) { w.add_string("general.architecture", "other"); }};
  const std::string path = folder.write("x.gguf", edit_model(read_file(tiny()), edit)).string();
  const Outcome text = run_arion("inspect " + path);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("memory needed is not known"), std::string::npos) << text.out;
  const Outcome outcome = run_arion("inspect --json " + path);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_TRUE(json.at("memory").is_null());
  EXPECT_FALSE(json["tensors"].empty());
}

TEST(Inspect, EveryTruncationOfAModelIsAnError) {
  const std::string whole = read_file(tiny("llama"));
  const TempDir folder;
  for (size_t size = 0; size < whole.size(); size = size * 5 / 3 + 3) {
    const std::string path = folder.write("cut.gguf", whole.substr(0, size)).string();
    EXPECT_EQ(run_arion("inspect " + path).exit_code, 3) << size;
  }
}

TEST(Inspect, ShowsImportanceMatrices) {
  const TempDir folder;
  ImportanceMatrix matrix;
  matrix.tensors["blk.0.ffn_up.weight"] = {{1, 2, 3, 4}, {8}};
  matrix.datasets = {"one.txt", "two.txt"};
  matrix.chunks = 7;
  matrix.chunk_tokens = 32;
  const std::string path = (folder.path() / "m.imatrix").string();
  matrix.save(path);
  const Outcome text = run_arion("inspect " + path);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  for (const char* words : {"blk.0.ffn_up.weight.in_sum2",
                            "1 weights, collected over 7 chunks of 32 tokens", "two.txt"}) {
    EXPECT_NE(text.out.find(words), std::string::npos) << text.out;
  }
  const Outcome json = run_arion("inspect --json " + path);
  EXPECT_EQ(json.exit_code, 0) << json.err;
  EXPECT_EQ(nlohmann::json::parse(json.out)["importance"],
            nlohmann::json({{"weights", 1},
                            {"chunks", 7},
                            {"chunk_tokens", 32},
                            {"datasets", {"one.txt", "two.txt"}}}));
  matrix.tensors["blk.0.ffn_up.weight"].sums[0] = -1;
  matrix.save(path);
  EXPECT_EQ(run_arion("inspect " + path).exit_code, 3);
  const Outcome bad = run_arion("inspect --json " + path);
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_TRUE(nlohmann::json::parse(bad.out)["importance"].is_null());
}

TEST(Inspect, ListsWeightsOfASafetensorsFile) {
  const TempDir folder;
  const std::string header = R"({"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                             R"("e":{"dtype":"BF16","shape":[2,0],"data_offsets":[4,4]}})";
  const auto length = static_cast<char>(header.size());
  const std::string path =
      folder.write("w.safetensors", std::string(1, length) + std::string(7, '\0') + header + "....")
          .string();
  const auto json = nlohmann::json::parse(run_arion("inspect --json " + path).out);
  ASSERT_EQ(json["tensors"].size(), 2u);
  EXPECT_EQ(json["tensors"][0]["name"], "s");
  EXPECT_EQ(json["tensors"][1]["shape"], (std::vector<int>{2, 0}));
  EXPECT_NE(run_arion("inspect " + path).out.find("2 tensors"), std::string::npos);
  folder.write("w.safetensors", "[]");
  EXPECT_EQ(run_arion("inspect " + path).exit_code, 3);
}

}  // namespace
}  // namespace arion::test
