// Tokenizers of Hugging Face folders as GGUF files hold them.
#include "model/hf_vocabulary.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/gguf.h"
#include "io/gguf_writer.h"
#include "model/tokenizer_folder.h"
#include "model/vocabulary_loader.h"
#include "model/vocabulary_writer.h"
#include "temp_dir.h"
#include "test_data.h"

namespace arion {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// The printable character that stands for a byte in byte-level BPE.
std::string byte_symbol(int byte) {
  const bool is_printable =
      (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  int code = byte;
  if (!is_printable) {
    code = 256;
    for (int b = 0; b < byte; ++b) {
      code += (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174 ? 0 : 1;
    }
  }
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
}

json byte_level(bool has_regex) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", has_regex}};
}

// Bytes, two merges that tell how words are cut, and two tokens that end texts.
json byte_bpe(const json& pre_tokenizer) {
  json vocabulary;
  for (int byte = 0; byte < 256; ++byte) vocabulary[byte_symbol(byte)] = byte;
  const std::string space = byte_symbol(' ');
  json merges = json::array();
  const auto add_merge = [&](const std::string& left, const std::string& right) {
    vocabulary[left + right] = vocabulary.size();
    merges.push_back({left, right});
  };
  add_merge("1", "2");
  add_merge("12", "3");
  add_merge("123", "4");
  add_merge(space, "1");
  add_merge(space, space);
  add_merge(".", byte_symbol('\n'));
  add_merge("!", "?");
  add_merge("'", "t");
  add_merge("'", "L");
  add_merge("_", "c");
  json added = json::array();
  for (const char* text : {"<s>", "</s>"}) {
    added.push_back(
        {{"id", vocabulary.size() + added.size()}, {"content", text}, {"special", true}});
  }
  return {{"added_tokens", added},
          {"pre_tokenizer", pre_tokenizer},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", merges}}}};
}

json split(const std::string& regex) {
  return {{"type", "Sequence"},
          {"pretokenizers",
           {{{"type", "Split"},
             {"pattern", {{"Regex", regex}}},
             {"behavior", "Isolated"},
             {"invert", false}},
            byte_level(false)}}};
}

class HfVocabulary : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << content;
  }
  Vocabulary convert(uint64_t size) const {
    return convert_vocabulary(folder_.path(), load_tokenizer_folder(folder_.path()).tokenizer,
                              size);
  }

  const test::TempDir folder_;
};

// What a GGUF file with the keys of the vocabulary would tokenize with.
Tokenizer written_and_read(const Vocabulary& vocabulary) {
  GgufWriter writer;
  add_vocabulary(vocabulary, writer);
  const std::string bytes = writer.bytes();
  const GgufFile file = GgufFile::parse(std::as_bytes(std::span(bytes)));
  return Tokenizer(load_vocabulary(file.metadata()));
}

TEST_F(HfVocabulary, PreTokenizersAreKnownByWhatTheyDo) {
  const json digits = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, byte_level(true)}}};
  const std::string qwen =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
      R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
  const std::pair<json, std::string> cases[] = {
      {byte_level(true), "gpt-2"}, {digits, "smollm"}, {split(qwen), "qwen2"}};
  for (const auto& [pre_tokenizer, name] : cases) {
    write("tokenizer.json", byte_bpe(pre_tokenizer).dump());
    EXPECT_EQ(convert(300).pre, name);
  }
  write("tokenizer.json", byte_bpe(split("[^x]+|x+")).dump());
  EXPECT_THROW(convert(300), Error);
}

TEST_F(HfVocabulary, SpecialTokensAndRowsWithoutTokensAreKept) {
  write("tokenizer.json", byte_bpe(byte_level(true)).dump());
  write(
      "tokenizer_config.json",
      R"({"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": true, "add_eos_token": false})");
  const Vocabulary vocabulary = convert(270);
  ASSERT_EQ(vocabulary.tokens.size(), 270u);
  EXPECT_EQ(vocabulary.tokens[266], "<s>");
  EXPECT_EQ(vocabulary.type(266), TokenType::control);
  EXPECT_EQ(vocabulary.tokens[268], "[PAD268]");
  EXPECT_EQ(vocabulary.type(268), TokenType::unused);
  const Tokenizer tokenizer = written_and_read(vocabulary);
  EXPECT_EQ(tokenizer.special().eos, 267);
  EXPECT_EQ(tokenizer.encode("1</s>"), (std::vector<int32_t>{266, '1', 267}));
  EXPECT_THROW(convert(267), Error) << "fewer rows than tokens";
}

TEST_F(HfVocabulary, AnswersEndAtTheTokensOfTheGenerationConfig) {
  json tokenizer = byte_bpe(byte_level(true));
  tokenizer["added_tokens"].push_back({{"id", 268}, {"content", "<over>"}, {"special", false}});
  write("tokenizer.json", tokenizer.dump());
  const auto ends = [&] {
    const Tokenizer loaded = load_tokenizer_folder(folder_.path()).tokenizer;
    const std::span<const int32_t> ids = loaded.end_of_generation();
    return std::vector<int32_t>(ids.begin(), ids.end());
  };
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(ends(), Ids{267}) << "by its spelling";
  write("config.json", R"({"eos_token_id": null, "text_config": {"eos_token_id": 266}})");
  EXPECT_EQ(ends(), (Ids{266, 267}));
  write("config.json", R"({"eos_token_id": 265, "text_config": {"eos_token_id": 266}})");
  EXPECT_EQ(ends(), (Ids{265, 267}));
  write("generation_config.json", R"({"temperature": 1})");
  EXPECT_EQ(ends(), Ids{267}) << "config.json is not asked";
  write("generation_config.json", R"({"eos_token_id": [268, 266, 266, 269, 500]})");
  EXPECT_EQ(ends(), (Ids{266, 267, 268})) << "there are no tokens 269 and 500";
  const Tokenizer loaded = load_tokenizer_folder(folder_.path()).tokenizer;
  EXPECT_EQ(loaded.type(268), TokenType::control) << "no user can write it";
  EXPECT_EQ(loaded.encode("<over>", {.parse_special = false}).size(), 6u);
}

TEST_F(HfVocabulary, ImpossibleEndsOfAnswersAreNamed) {
  write("tokenizer.json", byte_bpe(byte_level(true)).dump());
  std::string many = "[0";
  for (int i = 0; i < 1024; ++i) many += ", 0";
  for (const std::string& value :
       {std::string("-1"), std::string("1.5"), std::string("\"</s>\""), std::string("true"),
        std::string("{}"), std::string("[[1]]"), std::string("[1, null]"), std::string("2097151"),
        std::string("99999999999999999999"), many + "]"}) {
    write("generation_config.json", "{\"eos_token_id\": " + value + "}");
    try {
      load_tokenizer_folder(folder_.path());
      ADD_FAILURE() << "accepted " << value;
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("generation_config.json: eos_token_id"), std::string::npos) << message;
    }
  }
  write("generation_config.json", "[]");
  EXPECT_THROW(load_tokenizer_folder(folder_.path()), Error);
}

TEST_F(HfVocabulary, EndsOfAnswersAreKept) {
  json tokenizer = byte_bpe(byte_level(true));
  for (int id = 268; id < 271; ++id) {
    const std::string content = "<over" + std::to_string(id) + ">";
    tokenizer["added_tokens"].push_back({{"id", id}, {"content", content}, {"special", true}});
  }
  write("tokenizer.json", tokenizer.dump());
  write("generation_config.json", R"({"eos_token_id": [268, 267, 269, 268, 900]})");
  const Vocabulary first = convert(280);
  EXPECT_EQ(first.special.eos, 268);
  EXPECT_EQ(first.special.eot, 269);
  EXPECT_FALSE(first.special.eom);
  write("tokenizer_config.json", R"({"eos_token": "</s>"})");
  const Vocabulary vocabulary = convert(280);
  EXPECT_EQ(vocabulary.special.eos, 267);
  const Tokenizer written = written_and_read(vocabulary);
  EXPECT_EQ(written.special().eot, 268);
  EXPECT_EQ(written.special().eom, 269);
  const std::span<const int32_t> ends = written.end_of_generation();
  EXPECT_EQ(std::vector<int32_t>(ends.begin(), ends.end()), (std::vector<int32_t>{267, 268, 269}));
  write("generation_config.json", R"({"eos_token_id": [268, 269, 270]})");
  EXPECT_THROW(convert(280), Error) << "GGUF has no key for the fourth";
}

TEST_F(HfVocabulary, OtherKindsOfTokenizersAreRefused) {
  write("tokenizer.json",
        R"({"model": {"type": "WordLevel", "vocab": {"a": 0, "[unk]": 1}, "unk_token": "[unk]"}})");
  EXPECT_THROW(convert(2), Error);
}

TEST(HfVocabularyCorpus, RealTokenizersGiveTheSameIds) {
  const fs::path corpus = test::corpus_dir() / "data";
  ARION_REQUIRE_CORPUS(corpus);
  const std::string text =
      test::read_file(corpus / "text/frankenstein.txt").substr(0, 20000) +
      "\n 123456 \xE4\xBD\xA0\xE5\xA5\xBD\xEF\xBC\x8C na\xC3\xAFve \xF0\x9F\x98\x80";
  for (const char* name : {"tokenizers/hf/tinyllama", "tokenizers/hf/mistral-7b-v0.3",
                           "tokenizers/hf/cohere", "models/stories260K-hf"}) {
    const Tokenizer expected = load_tokenizer_folder(corpus / name).tokenizer;
    const uint64_t size = static_cast<uint64_t>(expected.size()) + 1;
    const Tokenizer got = written_and_read(convert_vocabulary(corpus / name, expected, size));
    EXPECT_EQ(got.encode(text), expected.encode(text)) << name;
  }
}

}  // namespace
}  // namespace arion
