// arion eval: hashes that do not depend on how a model is run, and the numbers of ppl and kl.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "program.h"

namespace arion::test {
namespace {

using nlohmann::json;

std::string hash_of(const std::string& arguments) {
  const Outcome outcome = run_arion("eval logits --hash " + arguments);
  EXPECT_EQ(outcome.exit_code, 0) << arguments << ": " << outcome.err;
  EXPECT_EQ(outcome.out.size(), 17u) << outcome.out;
  return outcome.out;
}

// "5,18,31,...": well spread over the tiny vocabulary.
std::string some_tokens(int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += std::to_string((5 + 13 * i) % 64) + ",";
  return list;
}

class EvalLogits : public testing::TestWithParam<const char*> {};

TEST_P(EvalLogits, HashDoesNotDependOnHowTheModelIsRun) {
  const std::string base = tiny(GetParam()) + " --tokens " + some_tokens(90) + " ";
  const std::string expected = hash_of(base + "-t 1");
  for (const char* how : {"--chunk 1", "--chunk 7", "--chunk 512", "--batch-with 17",
                          "--batch-with 17 --chunk 7", "--batch-with 80 --chunk 30",
                          "--passes none", "--poison", "--poison --batch-with 3 -t 3"}) {
    EXPECT_EQ(hash_of(base + how), expected) << how;
  }
  EXPECT_NE(hash_of(tiny(GetParam()) + " --tokens " + some_tokens(89)), expected);
}

INSTANTIATE_TEST_SUITE_P(Architectures, EvalLogits,
                         testing::Values("llama", "qwen2", "qwen3", "gemma3"),
                         [](const auto& info) { return info.param; });

TEST(EvalLogits, FewTokensBesideManySequencesFit) {
  EXPECT_EQ(hash_of(tiny() + " --tokens 1,2,3 --batch-with 17"),
            hash_of(tiny() + " --tokens 1,2,3"));
}

TEST(EvalLogits, ReadsIdsFromAFile) {
  const TempDir folder;
  const std::string file = folder.write("ids", "1 2,\n3\n").string();
  EXPECT_EQ(hash_of(tiny() + " --tokens @" + file), hash_of(tiny() + " --tokens 1,2,3"));
  EXPECT_EQ(run_arion("eval logits " + tiny() + " --tokens @" + folder.path().string()).exit_code,
            2);
}

TEST(EvalLogits, WritesTheHashedLogitsAsNpy) {
  const TempDir folder;
  const std::string out = (folder.path() / "logits.npy").string();
  const std::string hash = hash_of(tiny() + " --tokens 1,2,3 --out " + out);
  const std::string bytes = read_file(out);
  EXPECT_NE(bytes.find("'shape': (3, 64)"), std::string::npos);
  const std::string_view values = std::string_view(bytes).substr(128);
  ASSERT_EQ(values.size(), 3u * 64 * 4);
  uint64_t state = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : values) state = (state ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  EXPECT_EQ(fmt::format("{:016x}\n", state), hash);
}

TEST(EvalLogits, RefusedIdsLeaveNoFileBehind) {
  const TempDir folder;
  const auto out = folder.path() / "logits.npy";
  for (const char* wrong : {"1,64", "1,x", "-1", ""}) {
    const Outcome outcome =
        run_arion("eval logits " + tiny() + " --tokens '" + wrong + "' --out " + out.string());
    EXPECT_EQ(outcome.exit_code, 2) << wrong;
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(std::filesystem::exists(out)) << wrong;
  }
  EXPECT_EQ(run_arion("eval logits " + tiny() + " --tokens 1 --out /no/such/folder/x").exit_code,
            2);
}

std::string letters() {
  std::string text;
  for (int i = 0; i < 400; ++i) text += static_cast<char>('a' + i * i % 26);
  return text;
}

TEST(EvalPpl, PrintsTheDocumentedKeys) {
  const TempDir folder;
  const std::string file = folder.write("text", letters()).string();
  const Outcome outcome = run_arion("eval ppl --json --ctx 32 --file " + file + " " + tiny());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json out = json::parse(outcome.out);
  EXPECT_EQ(keys(out), (std::set<std::string>{"model", "profile", "windows", "window_tokens",
                                              "scored_tokens", "mean_negative_log_likelihood",
                                              "perplexity", "standard_error"}));
  EXPECT_EQ(out["window_tokens"], 32);
  EXPECT_EQ(out["windows"], 401 / 31);  // BOS and 31 tokens each; a space leads the text
  EXPECT_EQ(out["scored_tokens"], 401 / 31 * 16 - 401 / 31) << "rows 16 to 30 predict a token";
  EXPECT_NEAR(out["perplexity"].get<double>(),
              std::exp(out["mean_negative_log_likelihood"].get<double>()), 1e-6);
}

TEST(EvalPpl, NeedsATextOfOneWindow) {
  const TempDir folder;
  const std::string file = folder.write("text", "abc").string();
  const Outcome outcome = run_arion("eval ppl --ctx 32 --file " + file + " " + tiny());
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("fewer than one window of 32"), std::string::npos) << outcome.err;
  const Outcome folder_as_text =
      run_arion("eval ppl --file " + folder.path().string() + " " + tiny());
  EXPECT_EQ(folder_as_text.exit_code, 2);
  EXPECT_NE(folder_as_text.err.find("--file: "), std::string::npos) << folder_as_text.err;
}

TEST(EvalKl, IsZeroAgainstTheModelItselfAndPositiveAgainstAnother) {
  const TempDir folder;
  const std::string file = folder.write("text", letters()).string();
  auto compare = [&](const std::string& reference) {
    const Outcome outcome = run_arion("eval kl --json --act fp32 --ctx 32 --file " + file + " " +
                                      tiny() + " --reference " + reference);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return json::parse(outcome.out);
  };
  const json same = compare(tiny());
  EXPECT_EQ(keys(same), (std::set<std::string>{"model", "profile", "reference", "reference_profile",
                                               "positions", "mean_kl", "max_kl", "same_top",
                                               "sure_positions", "same_top_when_sure"}));
  EXPECT_EQ(same["mean_kl"], 0.0);
  EXPECT_EQ(same["same_top"], 1.0);
  EXPECT_EQ(same["positions"], 401 / 31 * 16);
  const json other = compare(tiny("qwen2"));
  EXPECT_GT(other["mean_kl"].get<double>(), 0.01);
  EXPECT_GE(other["max_kl"].get<double>(), other["mean_kl"].get<double>());
  EXPECT_LT(other["same_top"].get<double>(), 1.0);
}

}  // namespace
}  // namespace arion::test
