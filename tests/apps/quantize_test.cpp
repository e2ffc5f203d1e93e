// arion quantize: what it says is what it wrote.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "io/gguf.h"
#include "model/edit_model.h"
#include "program.h"

namespace arion::test {
namespace {

TEST(QuantizeCommand, TheSummarySaysWhatWasWritten) {
  const TempDir folder;
  const std::string in = (source_dir() / "tests/golden/model/llama.gguf").string();
  const std::string out = (folder.path() / "q.gguf").string();
  const std::string command = "quantize " + in + " " + out + " --type Q4_K_M";
  const Outcome dry = run_arion(command + " --dry-run");
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_FALSE(std::filesystem::exists(out));
  const Outcome outcome = run_arion(command);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  uint64_t bytes = 0, values = 0;
  const GgufFile file = GgufFile::open(out);
  for (const GgufTensor& tensor : file.tensors()) {
    bytes += tensor.data.size();
    values += tensor.values();
  }
  const double bits = 8.0 * static_cast<double>(bytes) / static_cast<double>(values);
  const std::string summary = fmt::format("{:.4f} bits per weight, ", bits);
  EXPECT_NE(outcome.out.find(summary), std::string::npos) << outcome.out;
  EXPECT_NE(dry.out.find(summary), std::string::npos) << dry.out;
  EXPECT_EQ(outcome.out.find(" 0 fallbacks"), std::string::npos) << "rows have 64 columns";
  EXPECT_EQ(run_arion(command + " --no-fallback").exit_code, 1);
}

TEST(QuantizeCommand, RefusesModelsThatCannotBeRun) {
  const TempDir folder;
  const auto with = [](const char* key, uint32_t value) {
    return Edit{{key}, [=](GgufWriter& w) { w.add_u32(key, value); }};
  };
  const Edit edits[] = {with("llama.block_count", 0),
                        with("llama.block_count", 4'000'000'000),
                        with("llama.attention.head_count", 0),
                        with("llama.attention.head_count_kv", 3),
                        with("llama.context_length", 0),
                        with("llama.embedding_length", 321),
                        with("llama.feed_forward_length", 33),
                        with("llama.rope.dimension_count", 63),
                        {{"llama.embedding_length"}},
                        {{"tokenizer.ggml.tokens"}},
                        {{"general.architecture"}},
                        {{"blk.0.attn_v.weight"}}};
  const std::string out = (folder.path() / "q.gguf").string();
  const auto last_line = [](const std::string& text) {
    return text.substr(text.rfind('\n', text.size() - 2) + 1);
  };
  for (const Edit& edit : edits) {
    const std::string in = folder.write("in.gguf", edit_model(read_file(tiny()), edit)).string();
    const Outcome inspected = run_arion("inspect " + in);
    const Outcome outcome = run_arion("quantize " + in + " " + out + " --type Q8_0");
    EXPECT_EQ(inspected.exit_code, 3) << edit.drop[0];
    EXPECT_EQ(outcome.exit_code, 3) << edit.drop[0];
    EXPECT_EQ(last_line(outcome.err), last_line(inspected.err));
    EXPECT_FALSE(std::filesystem::exists(out)) << edit.drop[0];
  }
}

TEST(QuantizeCommand, TakesArchitecturesThatItDoesNotKnow) {
  const TempDir folder;
  const Edit edit{{"general.architecture"},
                  [](GgufWriter& w) { w.add_string("general.architecture", "other"); }};
  const std::string in = folder.write("in.gguf", edit_model(read_file(tiny()), edit)).string();
  const Outcome outcome =
      run_arion("quantize " + in + " " + (folder.path() / "q.gguf").string() + " --type Q8_0");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("architecture 'other' is none that this version runs"),
            std::string::npos)
      << outcome.err;
}

TEST(QuantizeCommand, MoreFilesThanMayBeOpenAreRefused) {
  const TempDir folder;
  const Outcome outcome = run_arion("quantize " + tiny() + " " + (folder.path() / "q").string() +
                                        " --type F32 --split-max-size 1",
                                    "", "sh -c 'ulimit -n 70; exec \"$@\"' sh");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("but only 70 may be open"), std::string::npos) << outcome.err;
}

TEST(QuantizeCommand, RefusesFoldersWhoseConfigurationDoesNotFit) {
  const TempDir folder;
  const auto in = folder.path() / "hf";
  std::filesystem::copy(source_dir() / "tests/golden/model/hf/llama", in,
                        std::filesystem::copy_options::recursive);
  const std::string config = read_file(in / "config.json");
  auto changed = nlohmann::json::parse(config);
  changed["num_key_value_heads"] = 4;
  const std::string command =
      "quantize " + in.string() + " " + (folder.path() / "q.gguf").string() + " --type Q8_0";
  folder.write("hf/config.json", changed.dump());
  const Outcome outcome = run_arion(command);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("blk.0.attn_k.weight has shape"), std::string::npos) << outcome.err;
  folder.write("hf/config.json", config.substr(0, 100));
  const Outcome cut = run_arion(command);
  EXPECT_EQ(cut.exit_code, 3);
  EXPECT_NE(cut.err.find("config.json: not valid JSON at byte 101"), std::string::npos) << cut.err;
}

TEST(QuantizeCommand, OptionsThatCannotBeMeantAreRefused) {
  const TempDir folder;
  const std::string out = (folder.path() / "q.gguf").string();
  const std::pair<const char*, const char*> cases[] = {
      {"--keep 'blk.9*=F16'", "no tensor of the model has a name like blk.9*"},
      {"--keep 'blk.*='", "expected PATTERN=TYPE"},
      {"--keep '='", "'=': expected PATTERN=TYPE"},
      {"--keep '*_norm.weight=F16'", "no tensor with a name like *_norm.weight can become F16"},
      {"--split-max-size -1", "--split-max-size: expected a size from 1 to"},
      {"--split-max-size 0", "--split-max-size: expected a size from 1 to"},
      {"--split-max-size ''", "--split-max-size: expected a size from 1 to"},
      {"--split-max-size 2000T", "--split-max-size: expected a size from 1 to"},
      {"--split-max-size 99999999999T", "--split-max-size: expected a size from 1 to"},
      {"--split-max-size 2X", "--split-max-size: expected a size from 1 to"},
      {"--threads x", "--threads: expected a whole number from 0 to 1024, got 'x'"}};
  for (const auto& [option, words] : cases) {
    const Outcome outcome = run_arion("quantize " + tiny() + " " + out + " --type Q8_0 " + option);
    EXPECT_EQ(outcome.exit_code, 2) << option;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << option << ": " << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(out)) << option;
  }
}

// The largest difference of the logits that two models give for the same tokens.
float logit_distance(const std::string& a, const std::string& b) {
  const TempDir folder;
  std::vector<float> logits[2];
  for (int i = 0; i < 2; ++i) {
    const std::string out = (folder.path() / "logits.npy").string();
    const Outcome outcome = run_arion("eval logits " + (i == 0 ? a : b) +
                                      " --act fp32 --tokens 1,5,9,2,33,17,8,40,3,21 --out " + out);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    constexpr size_t kHeaderBytes = 128;
    const std::string file = read_file(out).substr(kHeaderBytes);
    logits[i].resize(file.size() / sizeof(float));
    std::memcpy(logits[i].data(), file.data(), file.size());
  }
  EXPECT_EQ(logits[0].size(), logits[1].size());
  EXPECT_FALSE(logits[0].empty());
  float largest = 0;
  for (size_t i = 0; i < std::min(logits[0].size(), logits[1].size()); ++i) {
    largest = std::max(largest, std::fabs(logits[0][i] - logits[1][i]));
  }
  return largest;
}

TEST(QuantizeCommand, FoldersBecomeFilesWithTheSameLogits) {
  const TempDir folder;
  const std::string out = (folder.path() / "out.gguf").string();
  for (const std::string name : {"llama", "qwen2", "qwen3", "gemma3"}) {
    const std::string in = (source_dir() / "tests/golden/model/hf" / name).string();
    const Outcome outcome = run_arion("quantize " + in + " " + out + " --type F32");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("no tokenizer"), std::string::npos);
    // Only the order of additions within a head differs, where rows are reordered.
    const float distance = logit_distance(in, out);
    EXPECT_LE(distance, name == "llama" ? 1e-5f : 0.0f) << name;
    const GgufFile file = GgufFile::open(out);
    EXPECT_EQ(file.metadata().find(name + ".rope.pairing"), nullptr);
  }
}

TEST(QuantizeCommand, AFolderWithATokenizerBecomesAFileThatAnswers) {
  const std::filesystem::path in = corpus_dir() / "data/models/stories260K-hf";
  ARION_REQUIRE_CORPUS(in);
  const TempDir folder;
  const std::string out = (folder.path() / "out.gguf").string();
  ASSERT_EQ(run_arion("quantize " + in.string() + " " + out + " --type F32").exit_code, 0);
  const std::string run = " --json --temp 0 -n 20 -p 'Once upon a time'";
  const auto expected = nlohmann::json::parse(run_arion("run " + in.string() + run).out);
  const auto got = nlohmann::json::parse(run_arion("run " + out + run).out);
  EXPECT_EQ(got["prompt_tokens"], expected["prompt_tokens"]);
  EXPECT_EQ(got["text"], expected["text"]);
  EXPECT_EQ(run_arion("quantize " + in.string() + " " + out + " --type Q4_0 --split-max-size 64K")
                .exit_code,
            0);
}

}  // namespace
}  // namespace arion::test
