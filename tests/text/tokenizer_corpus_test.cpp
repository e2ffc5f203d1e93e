// Real vocabularies of the corpus against the ids llama.cpp and tokenizers made.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "io/gguf.h"
#include "model/vocabulary_loader.h"
#include "test_data.h"
#include "text/detokenizer.h"
#include "text/fuzz_golden.h"
#include "text/tokenizer.h"
#include "text/tokenizer_data.h"

namespace arion {
namespace {

Vocabulary read_vocabulary(const std::filesystem::path& path) {
  return load_vocabulary(GgufFile::open(path).metadata());
}

// The texts of an .inp file stand between separator lines; there is one line of ids for each.
void expect_ids_of_inp_file(const Tokenizer& tokenizer, const std::string& name) {
  const std::string separator = "\n__ggml_vocab_test__\n";
  const auto base = tokenizer_dir() / "ggml" / ("ggml-vocab-" + name + ".gguf");
  const std::string texts = test::read_file(base.string() + ".inp");
  std::istringstream lines(test::read_file(base.string() + ".out"));
  size_t begin = 0;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const size_t end = texts.find(separator, begin);
    ASSERT_NE(end, std::string::npos);
    const std::string text = texts.substr(begin, end - begin);
    begin = end + separator.size();
    std::istringstream numbers(line);
    const std::vector<int32_t> expected{std::istream_iterator<int32_t>(numbers), {}};
    const std::vector<int32_t> ids = tokenizer.encode(text, kPlain);
    EXPECT_EQ(ids, expected) << name << ": " << testing::PrintToString(text);
    EXPECT_EQ(decode_bytes(tokenizer, ids), text);
  }
  EXPECT_GE(count, 40);
}

class GgmlVocabulary : public testing::TestWithParam<const char*> {};

TEST_P(GgmlVocabulary, GivesTheIdsOfItsGoldenFile) {
  const std::string name = GetParam();
  const auto path = tokenizer_dir() / "ggml" / ("ggml-vocab-" + name + ".gguf");
  ARION_REQUIRE_CORPUS(path);
  expect_ids_of_inp_file(Tokenizer(read_vocabulary(path)), name);
}

INSTANTIATE_TEST_SUITE_P(Corpus, GgmlVocabulary,
                         testing::Values("gpt-2", "mpt", "starcoder", "refact", "falcon",
                                         "deepseek-coder", "deepseek-llm", "llama-spm", "phi-3"));

Vocabulary llama3_vocabulary() {
  const auto dir = tokenizer_dir() / "llama3";
  Vocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.pre = "llama-bpe";
  const auto ids = nlohmann::json::parse(test::read_file(dir / "vocab.json"));
  vocabulary.tokens.resize(ids.size());
  for (const auto& [token, id] : ids.items()) vocabulary.tokens.at(id) = token;
  std::istringstream merges(test::read_file(dir / "merges.txt"));
  for (std::string line; std::getline(merges, line);) {
    if (!line.starts_with("#version") && !line.empty()) vocabulary.merges.push_back(line);
  }
  return vocabulary;
}

TEST(Llama3Vocabulary, GivesTheIdsOfItsGoldenFile) {
  ARION_REQUIRE_CORPUS(tokenizer_dir() / "llama3" / "vocab.json");
  const Tokenizer tokenizer(llama3_vocabulary());
  expect_ids_of_inp_file(tokenizer, "llama-bpe");
}

// Cases of transformers.js, made with transformers itself.
void expect_ids_of_transformers(const Tokenizer& tokenizer, const std::string& name,
                                EncodeOptions options) {
  const auto path = tokenizer_dir() / "hf" / "transformersjs_goldens.json";
  const auto models = nlohmann::json::parse(test::read_file(path)).at("models");
  int count = 0;
  for (const auto& item : models.at(name).at("cases")) {
    if (!item.contains("text") || !item.contains("ids")) continue;
    if (item.contains("text_pair") && !item["text_pair"].is_null()) continue;
    const std::string text = item["text"];
    EXPECT_EQ(tokenizer.encode(text, options), item["ids"].get<std::vector<int32_t>>())
        << name << ": " << testing::PrintToString(text);
    ++count;
  }
  EXPECT_GE(count, 20);
}

TEST(TransformersCases, MatchForGpt2Llama3AndLlama2) {
  ARION_REQUIRE_CORPUS(tokenizer_dir() / "hf" / "transformersjs_goldens.json");
  const auto ggml = tokenizer_dir() / "ggml";
  expect_ids_of_transformers(Tokenizer(llama3_vocabulary()), "Xenova/llama3-tokenizer", {});
  expect_ids_of_transformers(Tokenizer(read_vocabulary(ggml / "ggml-vocab-gpt-2.gguf")),
                             "openai-community/gpt2", {});
  expect_ids_of_transformers(Tokenizer(read_vocabulary(ggml / "ggml-vocab-llama-spm.gguf")),
                             "Xenova/llama-tokenizer", {});
}

// 2,000 strings of every script, spaces, digits, marks, garbage, against the tokenizers package.
void expect_ids_of_fuzz_golden(const Tokenizer& tokenizer, const std::string& name) {
  const auto golden = test::fuzz_golden();
  const auto& strings = golden.at("strings");
  const auto& hashes = golden.at("ids").at(name);
  ASSERT_EQ(hashes.size(), 2000u);
  for (size_t i = 0; i < hashes.size(); ++i) {
    const std::string text = strings[i];
    const auto ids = tokenizer.encode(text, {.add_special = false});
    EXPECT_EQ(test::fnv(ids), hashes[i].get<uint32_t>())
        << name << " " << testing::PrintToString(text) << " -> " << testing::PrintToString(ids);
  }
}

class FuzzedVocabulary : public testing::TestWithParam<const char*> {};

TEST_P(FuzzedVocabulary, GivesTheIdsOfTheTokenizersPackage) {
  const std::string name = GetParam();
  const auto path = tokenizer_dir() / "ggml" / ("ggml-vocab-" + name + ".gguf");
  ARION_REQUIRE_CORPUS(path);
  expect_ids_of_fuzz_golden(Tokenizer(read_vocabulary(path)), name);
}

INSTANTIATE_TEST_SUITE_P(Corpus, FuzzedVocabulary,
                         testing::Values("gpt-2", "mpt", "gpt-neox", "starcoder", "refact",
                                         "llama-spm", "phi-3"));

TEST(Llama3Vocabulary, GivesTheIdsOfTheTokenizersPackageWithItsOwnAndQwensSplit) {
  ARION_REQUIRE_CORPUS(tokenizer_dir() / "llama3" / "vocab.json");
  Vocabulary vocabulary = llama3_vocabulary();
  expect_ids_of_fuzz_golden(Tokenizer(vocabulary), "llama-bpe");
  vocabulary.pre = "qwen2";
  expect_ids_of_fuzz_golden(Tokenizer(vocabulary), "qwen2");
}

}  // namespace
}  // namespace arion
