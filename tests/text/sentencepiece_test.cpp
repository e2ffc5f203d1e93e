// Merging by score, the space in front, bytes as the fallback.
#include "text/sentencepiece.h"

#include <gtest/gtest.h>

#include <random>

#include "text/detokenizer.h"
#include "text/tiny_vocabulary.h"
#include "text/tokenizer.h"
#include "text/tokenizer_data.h"

namespace arion {
namespace {

using Ids = std::vector<int32_t>;
constexpr int32_t kFirstByte = 3;     // id of <0x00> in piece_vocabulary
constexpr int32_t kFirstPiece = 259;  // behind the byte tokens

TEST(SentencePiece, MergesTheBestScoreFirst) {
  const Tokenizer tokenizer(test::piece_vocabulary({"bc", "ab", "▁a", "▁", "a", "b", "c"}));
  EXPECT_EQ(tokenizer.encode("abc", kPlain), (Ids{kFirstPiece + 2, kFirstPiece}));
}

TEST(SentencePiece, EqualScoresMergeFromTheLeft) {
  Vocabulary vocabulary = test::piece_vocabulary({"ab", "bc", "a", "b", "c", "▁"});
  vocabulary.scores[kFirstPiece] = vocabulary.scores[kFirstPiece + 1];
  EXPECT_EQ(Tokenizer(vocabulary).encode("abc", kPlain),
            (Ids{kFirstPiece + 5, kFirstPiece, kFirstPiece + 4}));
}

TEST(SentencePiece, PutsASpaceInFrontUnlessTheModelSaysNo) {
  Vocabulary vocabulary = test::piece_vocabulary({"▁a", "a", "▁"});
  EXPECT_EQ(Tokenizer(vocabulary).encode("a a", kPlain), (Ids{kFirstPiece, kFirstPiece}));
  vocabulary.add_space_prefix = false;
  EXPECT_EQ(Tokenizer(vocabulary).encode("a a", kPlain), (Ids{kFirstPiece + 1, kFirstPiece}));
}

TEST(SentencePiece, TextBehindASpecialTokenGetsASpaceToo) {
  const Tokenizer tokenizer(test::piece_vocabulary({"▁a", "a", "▁"}));
  const Ids ids = {1, kFirstPiece, 2, kFirstPiece};
  EXPECT_EQ(tokenizer.encode("a</s>a"), ids);
  EXPECT_EQ(decode_bytes(tokenizer, ids, {.show_control = true}), "<s>a</s>a");
}

TEST(SentencePiece, CharactersWithoutATokenBecomeBytes) {
  Vocabulary vocabulary = test::piece_vocabulary({"a"});
  vocabulary.add_space_prefix = false;
  const Tokenizer tokenizer(vocabulary);
  EXPECT_EQ(tokenizer.encode("aé\xFF", kPlain),
            (Ids{kFirstPiece, kFirstByte + 0xC3, kFirstByte + 0xA9, kFirstByte + 0xFF}));
}

TEST(SentencePiece, WithoutByteTokensARunOfStrangeCharactersIsOneUnknown) {
  Vocabulary vocabulary = test::piece_vocabulary({"a"}, false);
  vocabulary.add_space_prefix = false;
  EXPECT_EQ(Tokenizer(vocabulary).encode("aéüaé", kPlain), (Ids{3, 0, 3, 0}));
}

TEST(SentencePiece, PlainTextNeverMergesIntoAControlOrByteToken) {
  Vocabulary vocabulary =
      test::piece_vocabulary({"<", "s", ">", "<s", "0", "x", "<0", "<0x", "<0x0", "<0x0A"});
  vocabulary.add_space_prefix = false;
  const Tokenizer tokenizer(vocabulary);
  for (const int32_t id : tokenizer.encode("<s><0x0A>", kPlain)) EXPECT_GE(id, kFirstPiece);
}

TEST(SentencePiece, TokensThatReachOverSpacesAreFound) {
  Vocabulary vocabulary = test::piece_vocabulary({"a▁b", "a▁", "▁", "a", "b"});
  vocabulary.add_space_prefix = false;
  EXPECT_EQ(Tokenizer(vocabulary).encode("ca b", kPlain), (Ids{kFirstByte + 'c', kFirstPiece}));
}

TEST(SentencePiece, AnyBytesComeBackButForTheVisibleSpace) {
  for (const bool has_prefix : {false, true}) {
    Vocabulary vocabulary = test::piece_vocabulary({"▁a", "ab", "▁", "a", "b", "é", "▁▁"});
    vocabulary.add_space_prefix = has_prefix;
    const Tokenizer tokenizer(vocabulary);
    std::mt19937 random(5);
    for (int round = 0; round < 3000; ++round) {
      std::string text(random() % 30, 0);
      for (char& c : text)
        c = round % 2 ? static_cast<char>(random()) : " ab\xC3\xA9"[random() % 5];
      if (text.find("\xE2\x96\x81") != std::string::npos) continue;
      ASSERT_EQ(decode_bytes(tokenizer, tokenizer.encode(text, kPlain)), text);
    }
    EXPECT_EQ(decode_bytes(tokenizer, tokenizer.encode("a▁b", kPlain)), "a b");
  }
}

}  // namespace
}  // namespace arion
