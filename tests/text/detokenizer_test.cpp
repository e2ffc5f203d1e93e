// Streaming: whole characters only, exact bytes on the side, control tokens by option.
#include "text/detokenizer.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "text/tiny_vocabulary.h"

namespace arion {
namespace {

using Ids = std::vector<int32_t>;

TEST(Utf8Assembler, ResultDoesNotDependOnTheCuts) {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes;
    for (int i = random() % 12; i > 0; --i) {
      bytes += std::vector<std::string>{
          "a", "é", "€", "😀", "\x80", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xFF"}[random() % 9];
    }
    std::string whole, cut;
    Utf8Assembler at_once, in_pieces;
    at_once.push(bytes, whole);
    at_once.finish(whole);
    for (size_t at = 0; at < bytes.size();) {
      const size_t length = random() % 4;
      in_pieces.push(std::string_view(bytes).substr(at, length), cut);
      at += length;
    }
    in_pieces.finish(cut);
    ASSERT_EQ(cut, whole);
  }
}

TEST(Utf8Assembler, ShowsOneReplacementPerMaximalSubpart) {
  std::string text;
  Utf8Assembler assembler;
  assembler.push(
      "a\xE2\x82"
      "b\xC0\xAF\xF0\x9F",
      text);
  EXPECT_EQ(text, "a\uFFFDb\uFFFD\uFFFD");
  assembler.finish(text);
  EXPECT_EQ(text, "a\uFFFDb\uFFFD\uFFFD\uFFFD");
}

TEST(Detokenizer, HoldsBackHalfCharacters) {
  const Tokenizer tokenizer(test::byte_vocabulary({"a b"}));
  Detokenizer detokenizer(tokenizer);
  EXPECT_EQ(detokenizer.push(0xE2), "");
  EXPECT_EQ(detokenizer.push(0x82), "");
  EXPECT_EQ(detokenizer.push(0xAC), "€");
  EXPECT_EQ(detokenizer.push(0xC3), "");
  EXPECT_EQ(detokenizer.push(256), "\uFFFDab");
  EXPECT_EQ(detokenizer.push(0xC3), "");
  EXPECT_EQ(detokenizer.finish(), "\uFFFD");
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, BytesAreExact) {
  const Tokenizer tokenizer(test::byte_vocabulary({"a b"}));
  EXPECT_EQ(decode_bytes(tokenizer, Ids{0xE2, 0x00, 256, 0xFF}), std::string("\xE2\0ab\xFF", 5));
}

TEST(Detokenizer, StripsTheSpaceThatEncodingAddedOnce) {
  const Tokenizer tokenizer(test::piece_vocabulary({"▁a", "▁"}));
  const int32_t a = 259, space = 260;
  EXPECT_EQ(decode_bytes(tokenizer, Ids{1, a, a}), "a a");
  EXPECT_EQ(decode_bytes(tokenizer, Ids{space, a}), " a");
  EXPECT_EQ(decode_bytes(tokenizer, Ids{a}, {.continues_text = true}), " a");
}

TEST(Detokenizer, HidesControlTokensUnlessAsked) {
  Vocabulary vocabulary = test::byte_vocabulary({"a b"});
  const int32_t control = test::add_token(vocabulary, "<c>", TokenType::control);
  const int32_t shown = test::add_token(vocabulary, "<u>", TokenType::user_defined);
  const Tokenizer tokenizer(vocabulary);
  const Ids ids = {'x', control, shown};
  EXPECT_EQ(decode_bytes(tokenizer, ids), "x<u>");
  EXPECT_EQ(decode_bytes(tokenizer, ids, {.show_control = true}), "x<c><u>");
}

TEST(Detokenizer, RefusesIdsOutsideTheVocabulary) {
  const Tokenizer tokenizer(test::byte_vocabulary({"a b"}));
  EXPECT_THROW(Detokenizer(tokenizer).push(257), Error);
}

}  // namespace
}  // namespace arion
