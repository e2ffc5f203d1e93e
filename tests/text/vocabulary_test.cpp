// Each way a vocabulary can be malformed is refused with the key that is wrong.
#include "text/vocabulary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "text/tiny_vocabulary.h"
#include "text/tokenizer.h"

namespace arion {
namespace {

testing::AssertionResult mentions(const std::string& message, std::string_view part) {
  if (message.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << '"' << message << "\" does not mention " << part;
}

std::string error_of(Vocabulary vocabulary) {
  try {
    Tokenizer tokenizer(std::move(vocabulary));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "no error";
}

std::string bpe_error(const std::function<void(Vocabulary&)>& damage) {
  Vocabulary vocabulary = test::byte_vocabulary({"a b"});
  damage(vocabulary);
  return error_of(std::move(vocabulary));
}

std::string piece_error(const std::function<void(Vocabulary&)>& damage) {
  Vocabulary vocabulary = test::piece_vocabulary({"a"});
  damage(vocabulary);
  return error_of(std::move(vocabulary));
}

TEST(Vocabulary, TheTinyOnesAreValid) {
  EXPECT_EQ(bpe_error([](Vocabulary&) {}), "no error");
  EXPECT_EQ(piece_error([](Vocabulary&) {}), "no error");
}

TEST(Vocabulary, CountsMustAgree) {
  EXPECT_TRUE(
      mentions(bpe_error([](Vocabulary& v) { v.tokens.clear(); }), "ggml.tokens is missing"));
  EXPECT_TRUE(mentions(bpe_error([](Vocabulary& v) { v.types.pop_back(); }),
                       "token_type has 256 entries, expected 257"));
  EXPECT_TRUE(mentions(bpe_error([](Vocabulary& v) { v.scores = {1}; }), "scores has 1 entries"));
  EXPECT_TRUE(
      mentions(piece_error([](Vocabulary& v) { v.scores.clear(); }), "scores has 0 entries"));
}

TEST(Vocabulary, ValuesMustBeInRange) {
  EXPECT_TRUE(mentions(piece_error([](Vocabulary& v) { v.scores[3] = NAN; }), "scores[3]"));
  EXPECT_TRUE(mentions(bpe_error([](Vocabulary& v) { v.types[4] = static_cast<TokenType>(7); }),
                       "token_type[4] is 7, expected 0 to 6"));
  EXPECT_TRUE(mentions(bpe_error([](Vocabulary& v) { v.types[4] = static_cast<TokenType>(-1); }),
                       "token_type[4] is -1"));
  EXPECT_TRUE(mentions(bpe_error([](Vocabulary& v) { v.special.eos = 257; }),
                       "eos_token_id is 257, expected 0 to 256"));
  EXPECT_TRUE(mentions(bpe_error([](Vocabulary& v) { v.special.bos = -5; }), "bos_token_id is -5"));
}

TEST(Vocabulary, MergesNeedTwoParts) {
  EXPECT_EQ(bpe_error([](Vocabulary& v) { v.merges.clear(); }), "no error") << "only bytes";
  for (const char* merge : {"", "ab", "a ", " b"}) {
    EXPECT_TRUE(mentions(bpe_error([&](Vocabulary& v) {
                           v.merges = {"a b", merge};
                         }),
                         "merges[1]"))
        << merge;
  }
}

TEST(Vocabulary, ByteTokensNeedTwoHexDigits) {
  EXPECT_TRUE(mentions(piece_error([](Vocabulary& v) { v.tokens[5] = "<0x1>"; }), "tokens[5]"));
  EXPECT_EQ(parse_byte_token("<0x0A>"), 10);
  EXPECT_EQ(parse_byte_token("<0xff>"), 255);
  EXPECT_EQ(parse_byte_token("<0xG0>"), std::nullopt);
  EXPECT_EQ(parse_byte_token("<0x000>"), std::nullopt);
}

TEST(Vocabulary, AbsurdlyLongTokensAreRefused) {
  EXPECT_TRUE(mentions(bpe_error([](Vocabulary& v) { v.tokens[9] = std::string(70000, 'x'); }),
                       "tokens[9] has 70000 bytes"));
  EXPECT_TRUE(mentions(bpe_error([](Vocabulary& v) {
                         v.tokens[9] = std::string(2000, 'x');
                         v.types[9] = TokenType::control;
                       }),
                       "at most 1024"));
}

TEST(Vocabulary, TablesWithoutBoundAreRefused) {
  EXPECT_TRUE(mentions(bpe_error([](Vocabulary& v) { v.tokens.resize(1 << 21); }),
                       "tokens has 2097152 entries, at most"));
  EXPECT_TRUE(mentions(bpe_error([](Vocabulary& v) { v.merges.resize(1 << 20, "a b"); }),
                       "merges has 1048576 entries, at most"));
  EXPECT_TRUE(mentions(bpe_error([](Vocabulary& v) {
                         for (int i = 0; i < 1100; ++i) {
                           test::add_token(v, std::string(1000, 'x'), TokenType::user_defined);
                         }
                       }),
                       "marks tokens of 1100000 bytes as special"));
}

TEST(Vocabulary, UnknownModelsAndPreTokenizersAreNamedWithTheSupportedOnes) {
  const std::string model = bpe_error([](Vocabulary& v) { v.model = "plamo2"; });
  EXPECT_TRUE(mentions(model, "\"plamo2\""));
  EXPECT_TRUE(mentions(model, "gpt2, llama"));
  const std::string pre = bpe_error([](Vocabulary& v) { v.pre = "brand-new"; });
  EXPECT_TRUE(mentions(pre, "\"brand-new\""));
  EXPECT_TRUE(mentions(pre, "gpt-2, "));
  EXPECT_TRUE(mentions(pre, ", qwen2"));
}

}  // namespace
}  // namespace arion
