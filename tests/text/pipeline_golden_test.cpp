// Every family and every part of tokenizer.json against the Hugging Face tokenizers package.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test_data.h"
#include "text/detokenizer.h"
#include "text/fuzz_golden.h"
#include "text/pipeline/configured.h"
#include "text/pipeline/tokenizer_json.h"
#include "text/unicode.h"

namespace arion {
namespace {

constexpr size_t kGroup = 10;       // strings per hash
constexpr int32_t kEnd = 0x110000;  // behind each string or word

nlohmann::json read_golden(const std::string& name) {
  return nlohmann::json::parse(
      test::read_file(test::source_dir() / "tests/golden/tokenizers" / name));
}

// The code points, with U+FFFD for each maximal subpart that is ill-formed.
void append_characters(std::string_view text, std::vector<int32_t>& numbers) {
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    numbers.push_back(static_cast<int32_t>(c.code_point));
    text.remove_prefix(c.length);
  }
}

// Compares with the hashes, one for each group of strings; `append` gives the numbers of a string.
template <class Append>
void expect_hashes(const nlohmann::json& strings, const nlohmann::json& hashes,
                   const Append& append) {
  for (size_t group = 0; group < hashes.size(); ++group) {
    std::vector<int32_t> numbers;
    for (size_t i = group * kGroup; i < (group + 1) * kGroup; ++i) {
      append(strings[i].get<std::string>(), numbers);
      numbers.push_back(kEnd);
    }
    EXPECT_EQ(test::fnv(numbers), hashes[group].get<uint32_t>())
        << "strings " << group * kGroup << " to " << (group + 1) * kGroup - 1;
  }
}

Tokenizer read_family(const std::string& name) {
  const std::string file = name + ".json";
  const std::string json = test::read_file(test::source_dir() / "tests/golden/tokenizers" / file);
  return make_tokenizer(read_tokenizer_json(json, file), {});
}

class TokenizerFamily : public testing::TestWithParam<const char*> {};

TEST_P(TokenizerFamily, GivesTheIdsOfTheTokenizersPackage) {
  const auto golden = read_golden("golden.json");
  const Tokenizer tokenizer = read_family(GetParam());
  const auto& family = golden.at("families").at(GetParam());
  ASSERT_EQ(family.at("ids").size(), 200u);
  expect_hashes(golden.at("strings"), family.at("ids"),
                [&](const std::string& text, std::vector<int32_t>& numbers) {
                  const auto ids = tokenizer.encode(text);
                  numbers.insert(numbers.end(), ids.begin(), ids.end());
                });
}

TEST_P(TokenizerFamily, DecodesAsTheTokenizersPackage) {
  const auto golden = read_golden("golden.json");
  const Tokenizer tokenizer = read_family(GetParam());
  expect_hashes(golden.at("strings"), golden.at("families").at(GetParam()).at("texts"),
                [&](const std::string& text, std::vector<int32_t>& numbers) {
                  append_characters(decode_bytes(tokenizer, tokenizer.encode(text)), numbers);
                });
}

INSTANTIATE_TEST_SUITE_P(Golden, TokenizerFamily,
                         testing::Values("byte_level", "prefix_space", "byte_fallback", "metaspace",
                                         "end_of_word", "continuing", "wordpiece", "unigram",
                                         "unigram_bytes", "word_level"));

// A tokenizer with nothing but one part.
PipelineParts read_part(const char* key, const nlohmann::json& part) {
  const nlohmann::json file = {{key, part},
                               {"model", {{"type", "WordLevel"}, {"vocab", {{"<unk>", 0}}}}}};
  return read_tokenizer_json(file.dump(), key);
}

TEST(NormalizerParts, DoWhatTheTokenizersPackageDoes) {
  const auto strings = read_golden("golden.json").at("strings");
  const auto components = read_golden("components.json");
  ASSERT_GE(components.at("normalizers").size(), 18u);
  for (const auto& [name, golden] : components.at("normalizers").items()) {
    SCOPED_TRACE(name);
    const PipelineParts parts = read_part("normalizer", golden.at("part"));
    expect_hashes(strings, golden.at("hashes"),
                  [&](std::string text, std::vector<int32_t>& numbers) {
                    parts.normalizer->apply(text);
                    append_characters(text, numbers);
                  });
  }
}

TEST(PreTokenizerParts, DoWhatTheTokenizersPackageDoes) {
  const auto strings = read_golden("golden.json").at("strings");
  const auto components = read_golden("components.json");
  ASSERT_GE(components.at("pre_tokenizers").size(), 18u);
  for (const auto& [name, golden] : components.at("pre_tokenizers").items()) {
    SCOPED_TRACE(name);
    const PipelineParts parts = read_part("pre_tokenizer", golden.at("part"));
    expect_hashes(strings, golden.at("hashes"),
                  [&](const std::string& text, std::vector<int32_t>& numbers) {
                    Pieces pieces = {text, {{0, text.size(), true}}};
                    parts.pre_tokenizer->apply(pieces);
                    for (size_t i = 0; i < pieces.size(); ++i) {
                      append_characters(pieces[i], numbers);
                      numbers.push_back(kEnd);
                    }
                  });
  }
}

}  // namespace
}  // namespace arion
