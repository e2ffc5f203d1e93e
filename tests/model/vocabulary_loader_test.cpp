// Vocabularies of both kinds from files, and what broken ones are told.
#include "model/vocabulary_loader.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "io/gguf.h"
#include "io/gguf_writer.h"
#include "test_data.h"

namespace arion {
namespace {

std::filesystem::path corpus(const std::string& name) {
  return test::corpus_dir() / "data" / name;
}

TEST(VocabularyLoader, ReadsASentencePieceVocabulary) {
  const auto file = GgufFile::open(test::source_dir() / "tests/golden/model/llama.gguf");
  const Vocabulary vocabulary = load_vocabulary(file.metadata());
  EXPECT_NO_THROW(validate(vocabulary));
  EXPECT_EQ(vocabulary.model, "llama");
  EXPECT_EQ(vocabulary.pre, "");
  ASSERT_EQ(vocabulary.tokens.size(), 64u);
  EXPECT_EQ(vocabulary.tokens[3], "\u2581");
  EXPECT_EQ(vocabulary.scores[5], -5.0f);
  EXPECT_EQ(vocabulary.type(0), TokenType::unknown);
  EXPECT_EQ(vocabulary.type(1), TokenType::control);
  EXPECT_EQ(vocabulary.type(63), TokenType::normal);
  EXPECT_EQ(vocabulary.special.bos, 1);
  EXPECT_EQ(vocabulary.special.eos, 2);
  EXPECT_EQ(vocabulary.special.unknown, 0);
  EXPECT_FALSE(vocabulary.special.padding.has_value());
  EXPECT_FALSE(vocabulary.add_bos.has_value());
}

TEST(VocabularyLoader, ReadsAByteLevelVocabulary) {
  const auto path = corpus("tokenizers/ggml/ggml-vocab-starcoder.gguf");
  ARION_REQUIRE_CORPUS(path);
  const auto file = GgufFile::open(path);
  const Vocabulary vocabulary = load_vocabulary(file.metadata());
  EXPECT_NO_THROW(validate(vocabulary));
  EXPECT_EQ(vocabulary.model, "gpt2");
  EXPECT_EQ(vocabulary.pre, "starcoder");
  EXPECT_FALSE(vocabulary.merges.empty());
  EXPECT_EQ(vocabulary.types.size(), vocabulary.tokens.size());
}

// Vocabularies of bytes alone have no merges; a file that does not say so is damaged.
TEST(VocabularyLoader, AnEmptyListOfMergesIsNotAMissingOne) {
  GgufWriter writer;
  writer.add_string("tokenizer.ggml.model", "gpt2");
  writer.add_strings("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b"});
  const auto load = [](const GgufWriter& w) {
    const std::string bytes = w.bytes();
    return load_vocabulary(GgufFile::parse(std::as_bytes(std::span(bytes))).metadata());
  };
  EXPECT_THROW(load(writer), Error);
  writer.add_strings("tokenizer.ggml.merges", {});
  EXPECT_TRUE(load(writer).merges.empty());
}

TEST(VocabularyLoader, SaysWhichKeyIsMissing) {
  try {
    load_vocabulary(GgufMetadata("empty.gguf", {}));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_NE(std::string(error.what()).find("tokenizer.ggml.model"), std::string::npos);
  }
}

}  // namespace
}  // namespace arion
