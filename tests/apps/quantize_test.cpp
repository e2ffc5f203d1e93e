// arion quantize: what it says is what it wrote.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "io/gguf.h"
#include "program.h"

namespace arion::test {
namespace {

TEST(QuantizeCommand, TheSummarySaysWhatWasWritten) {
  const TemporaryFolder folder;
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

// The largest difference of the logits that two models give for the same tokens.
float logit_distance(const std::string& a, const std::string& b) {
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
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
