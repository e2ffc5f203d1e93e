// Merging, words that are tokens, and vocabularies with gaps.
#include "text/bpe.h"

#include <gtest/gtest.h>

#include "text/detokenizer.h"
#include "text/tiny_vocabulary.h"
#include "text/token_spelling.h"
#include "text/tokenizer.h"

namespace arion {
namespace {

using Ids = std::vector<int32_t>;

Ids encode(const Vocabulary& vocabulary, std::string_view text) {
  return Tokenizer(vocabulary).encode(text);
}

TEST(DecodeByteAlphabet, TurnsSpacesAndLeavesForeignCharacters) {
  EXPECT_EQ(decode_byte_alphabet("Ġthe"), " the");
  EXPECT_EQ(decode_byte_alphabet("Ã©Ċ"), "\xC3\xA9\n");
  EXPECT_EQ(decode_byte_alphabet("世"), "世");
  std::string all, expected;
  for (int byte = 0; byte < 256; ++byte) {
    all += test::spell_byte(byte);
    expected.push_back(static_cast<char>(byte));
  }
  EXPECT_EQ(decode_byte_alphabet(all), expected);
}

TEST(Bpe, MergesByRankNotByLength) {
  const Vocabulary vocabulary = test::byte_vocabulary({"b c", "a b", "ab c"});
  EXPECT_EQ(encode(vocabulary, "abc"), (Ids{'a', 256}));
  EXPECT_EQ(encode(vocabulary, "ab"), (Ids{257}));
}

TEST(Bpe, MergesTheLeftmostOfEqualPairs) {
  EXPECT_EQ(encode(test::byte_vocabulary({"a a"}), "aaa"), (Ids{256, 'a'}));
}

TEST(Bpe, KeepsTheFirstRankOfAMergeListedTwice) {
  const Vocabulary vocabulary = test::byte_vocabulary({"a b", "b c", "a b"});
  EXPECT_EQ(encode(vocabulary, "abc"), (Ids{256, 'c'}));
}

TEST(Bpe, AWordThatIsATokenIsTakenWholeOnlyIfMergesAreIgnored) {
  const std::vector<std::string> merges = {"a b", "b c"};
  for (const auto& [pre, expected] :
       {std::pair("gpt-2", Ids{256, 'c'}), std::pair("llama3", Ids{258})}) {
    Vocabulary vocabulary = test::byte_vocabulary(merges, pre);
    test::add_token(vocabulary, "abc", TokenType::normal);
    const Tokenizer tokenizer(vocabulary);
    EXPECT_EQ(tokenizer.encode("abc"), expected) << pre;
    EXPECT_EQ(tokenizer.encode("abc"), expected) << pre << ", when the word is known";
  }
}

TEST(Bpe, TheLowestIdWinsAmongTokensSpelledAlike) {
  Vocabulary vocabulary = test::byte_vocabulary({"a b"});
  test::add_token(vocabulary, "ab", TokenType::normal);
  EXPECT_EQ(encode(vocabulary, "ab"), (Ids{256}));
  EXPECT_EQ(Tokenizer(vocabulary).bytes(257), "ab");
}

TEST(Bpe, AMergeResultWithoutATokenFallsApartIntoBytes) {
  Vocabulary vocabulary = test::byte_vocabulary({});
  vocabulary.merges = {"a b"};
  EXPECT_EQ(encode(vocabulary, "abc"), (Ids{'a', 'b', 'c'}));
}

TEST(Bpe, AByteWithoutATokenIsDroppedBeforeMerging) {
  Vocabulary vocabulary = test::byte_vocabulary({"! ?"});
  vocabulary.tokens[4] = "unreachable";
  EXPECT_EQ(encode(vocabulary, "!\x04?\x04z\x04"), (Ids{256, 'z'}));
  EXPECT_EQ(encode(vocabulary, "\x04"), Ids());
}

TEST(Bpe, ATokenWithADroppedByteIsNotTakenWhole) {
  Vocabulary vocabulary = test::byte_vocabulary({"! ?"});
  vocabulary.tokens[4] = "unreachable";
  vocabulary.merges.push_back("! " + test::spell_byte(4));
  test::add_token(vocabulary, "!" + test::spell_byte(4), TokenType::normal);
  EXPECT_EQ(encode(vocabulary, "!\x04"), Ids{'!'});
}

TEST(Bpe, PlainTextNeverMergesIntoAControlToken) {
  Vocabulary vocabulary = test::byte_vocabulary({"< e", "<e >"});
  vocabulary.types[257] = TokenType::control;
  const EncodeOptions plain = {.add_special = false, .parse_special = false};
  EXPECT_EQ(Tokenizer(vocabulary).encode("<e>", plain), (Ids{'<', 'e', '>'}));
}

TEST(Bpe, EveryByteStringComesBack) {
  const Tokenizer tokenizer(test::byte_vocabulary({"a b", "Ġ a", "Ã ©"}));
  std::string text = " ab";
  for (int byte = 255; byte >= 0; --byte) text.push_back(static_cast<char>(byte));
  text += "\xC3\xA9\xE2\x82\xF0\x9F";
  EXPECT_EQ(decode_bytes(tokenizer, tokenizer.encode(text)), text);
}

}  // namespace
}  // namespace arion
