// Greedy matching, and the other models beside GPT-2 and SentencePiece.
#include "text/longest_match.h"

#include <gtest/gtest.h>

#include "text/detokenizer.h"
#include "text/tiny_vocabulary.h"
#include "text/token_spelling.h"
#include "text/tokenizer.h"

namespace arion {
namespace {

using Ids = std::vector<int32_t>;

TEST(TokenSpelling, EscapesStandForBytes) {
  EXPECT_EQ(decode_escapes(R"(a\n\t\r\\\x00\xe4\x)"), std::string("a\n\t\r\\\0\xE4x", 8));
  EXPECT_EQ(decode_escapes("\\xg1\\"), "xg1\\");
}

TEST(LongestMatch, TakesTheLongestTokenAtEachPlace) {
  Vocabulary vocabulary;
  vocabulary.model = "rwkv";
  vocabulary.tokens = {"<s>", "a", "ab", "abcd", "c", "\\n", "\\xe4"};
  vocabulary.types.assign(vocabulary.tokens.size(), TokenType::normal);
  vocabulary.types[0] = TokenType::control;
  vocabulary.special.unknown = 0;
  const Tokenizer tokenizer(vocabulary);
  EXPECT_EQ(tokenizer.encode("abcabcd\n\xE4"), (Ids{2, 4, 3, 5, 6}));
  EXPECT_EQ(tokenizer.encode("azzc"), (Ids{1, 0, 4}));
  EXPECT_EQ(decode_bytes(tokenizer, Ids{3, 5, 6}), "abcd\n\xE4");
}

Vocabulary gemma4_vocabulary() {
  Vocabulary vocabulary = test::piece_vocabulary({"▁", "a", "b", "▁a", "ab", "\n", "\n\n", "é"});
  vocabulary.model = "gemma4";
  vocabulary.scores.clear();
  vocabulary.merges = {"▁ a", "a b"};
  vocabulary.special.bos = 1;
  vocabulary.add_bos = false;
  return vocabulary;
}

TEST(Gemma4, MergesCharactersWithVisibleSpacesAndFallsBackToBytes) {
  const Tokenizer tokenizer(gemma4_vocabulary());
  const int32_t space = 259, a = 260, b = 261, space_a = 262, ab = 263, newlines = 265, e = 266;
  EXPECT_EQ(tokenizer.encode("ab", {.add_special = false}), (Ids{ab}));
  EXPECT_EQ(tokenizer.encode(" ab▁ab", {.add_special = false}), (Ids{space_a, b, space_a, b}));
  EXPECT_EQ(tokenizer.encode("a\n\n é", {.add_special = false}), (Ids{a, newlines, space, e}));
  EXPECT_EQ(tokenizer.encode("€", {.add_special = false}), (Ids{3 + 0xE2, 3 + 0x82, 3 + 0xAC}));
  EXPECT_EQ(tokenizer.encode("b"), (Ids{1, b}));
  const std::string text = " a b\n\n\n€\xFF";
  EXPECT_EQ(decode_bytes(tokenizer, tokenizer.encode(text)), text);
}

TEST(Roberta, EndsWithItsSeparator) {
  Vocabulary vocabulary = test::byte_vocabulary({"a b"}, "roberta-bpe");
  vocabulary.special.eos = test::add_token(vocabulary, "</s>", TokenType::control);
  EXPECT_EQ(Tokenizer(vocabulary).encode("ab"), (Ids{256, 257}));
}

}  // namespace
}  // namespace arion
