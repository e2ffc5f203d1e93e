// Files that are wrong or mean harm are refused with a message that names the place.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "text/pipeline/configured.h"
#include "text/pipeline/other_files.h"

namespace arion {
namespace {

using nlohmann::json;

json plain_file() {
  return {{"model", {{"type", "WordLevel"}, {"vocab", {{"<unk>", 0}, {"a", 1}}}}}};
}

Tokenizer read(const std::string& text) {
  return make_tokenizer(read_tokenizer_json(text, "tokenizer.json"), {});
}

std::string message_of(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "";
}

void expect_refusal(const json& file, const std::string& part) {
  EXPECT_NE(message_of(file.dump()).find(part), std::string::npos) << message_of(file.dump());
}

TEST(HostileTokenizerJson, DeepNestingIsRefused) {
  const std::string deep(100'000, '[');
  EXPECT_NE(message_of(deep).find("tokenizer.json"), std::string::npos);
  json sequence = {{"type", "Lowercase"}};
  for (int i = 0; i < 20; ++i) sequence = {{"type", "Sequence"}, {"normalizers", {sequence}}};
  json file = plain_file();
  file["normalizer"] = sequence;
  EXPECT_NO_THROW(read(file.dump()));
  for (int i = 0; i < 20; ++i) sequence = {{"type", "Sequence"}, {"normalizers", {sequence}}};
  file["normalizer"] = sequence;
  EXPECT_NE(message_of(file.dump()), "");
}

TEST(HostileTokenizerJson, TooManyPartsAreRefused) {
  json file = plain_file();
  file["normalizer"] = {{"type", "Sequence"},
                        {"normalizers", json::array_t(1000, {{"type", "Lowercase"}})}};
  expect_refusal(file, "more parts");
}

TEST(HostileTokenizerJson, ATextThatGrowsWithoutEndIsRefused) {
  json file = plain_file();
  const json grow = {
      {"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(1000, 'a')}};
  file["normalizer"] = {{"type", "Sequence"}, {"normalizers", json::array_t(10, grow)}};
  const Tokenizer tokenizer = read(file.dump());
  EXPECT_THROW(tokenizer.encode("aaaaaaaaaa"), Error);
}

TEST(HostileTokenizerJson, AnExponentialRegexIsStopped) {
  json file = plain_file();
  file["pre_tokenizer"] = {
      {"type", "Split"}, {"pattern", {{"Regex", "(a|aa)+[0-9]"}}}, {"behavior", "Isolated"}};
  const Tokenizer tokenizer = read(file.dump());
  EXPECT_THROW(tokenizer.encode(std::string(5'000, 'a')), Error);
}

TEST(HostileTokenizerJson, HugeIdsAndDoubleIdsAreRefused) {
  json file = plain_file();
  file["model"]["vocab"]["b"] = 4'000'000'000u;
  expect_refusal(file, "vocab");
  file["model"]["vocab"]["b"] = 1;
  expect_refusal(file, "both have the id 1");
  file["model"]["vocab"]["b"] = -1;
  expect_refusal(file, "vocab");
}

TEST(HostileTokenizerJson, UnknownPartsAndTypesAreNamed) {
  json file = plain_file();
  file["normalizer"] = {{"type", "Mystery"}};
  expect_refusal(file, "tokenizer.json: normalizer: the type \"Mystery\" is not supported");
  file["normalizer"] = 7;
  expect_refusal(file, "normalizer is a number, expected an object");
  file = plain_file();
  file.erase("model");
  expect_refusal(file, "model is missing");
}

TEST(HostileTokenizerJson, AMergeOutsideTheVocabularyIsRefused) {
  json file = {{"model", {{"type", "BPE"}, {"vocab", {{"a", 0}}}, {"merges", {"a a"}}}}};
  expect_refusal(file, "\"aa\"");
}

TEST(HostileTokenizerJson, APostProcessorThatAddsNoTokenIsRefused) {
  json file = plain_file();
  file["post_processor"] = {
      {"type", "BertProcessing"}, {"cls", {"[CLS]", 1}}, {"sep", {"[SEP]", 2}}};
  expect_refusal(file, "post_processor has the id 2");
  file["post_processor"]["sep"][1] = 0;
  EXPECT_EQ(message_of(file.dump()), "");
}

TEST(HostileTiktoken, GarbageIsRefused) {
  for (const char* text : {"", "!!!! 0\n", "YQ== x\n", "YQ== 0\nYQ== 0\n", "YQ== 99999999999\n"}) {
    EXPECT_THROW(read_tiktoken(text, "x.tiktoken"), Error) << text;
  }
}

TEST(ControlTokens, AreFoundInTemplatePartsOnly) {
  json file = plain_file();
  file["added_tokens"] = {
      {{"id", 2}, {"content", "<|im_end|>"}, {"special", true}, {"normalized", true}}};
  file["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  const Tokenizer tokenizer = read(file.dump());
  const std::vector<PromptPiece> pieces = {
      {"a <|im_end|>", false}, {" <|im_end|>", true}, {" <|im_end|>", false}};
  EXPECT_EQ(tokenizer.encode(pieces, {}), (std::vector<int32_t>{1, 0, 2, 0}));
}

}  // namespace
}  // namespace arion
