// Special tokens: what is cut, when, and what a vocabulary means by default.
#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "text/tiny_vocabulary.h"
#include "text/tokenizer_data.h"

namespace arion {
namespace {

using Ids = std::vector<int32_t>;

// Control <e> 256, user-defined <e><f> 257, user-defined -- 258, control <g> 259.
Vocabulary marked_vocabulary() {
  Vocabulary vocabulary = test::byte_vocabulary({});
  vocabulary.merges = {"a b"};
  test::add_token(vocabulary, "<e>", TokenType::control);
  test::add_token(vocabulary, "<e><f>", TokenType::user_defined);
  test::add_token(vocabulary, "--", TokenType::user_defined);
  test::add_token(vocabulary, "<g>", TokenType::control);
  return vocabulary;
}

TEST(Tokenizer, CutsTheLongestSpecialTokenAtTheLeftmostPlace) {
  const Tokenizer tokenizer(marked_vocabulary());
  EXPECT_EQ(tokenizer.encode("<e>x"), (Ids{256, 'x'}));
  EXPECT_EQ(tokenizer.encode("<e><f>x"), (Ids{257, 'x'}));
  EXPECT_EQ(tokenizer.encode("---"), (Ids{258, '-'}));
  EXPECT_EQ(tokenizer.encode("<e<e><g>"), (Ids{'<', 'e', 256, 259}));
}

TEST(Tokenizer, PlainTextKeepsControlSpellingsButCutsUserDefinedOnes) {
  const Tokenizer tokenizer(marked_vocabulary());
  EXPECT_EQ(tokenizer.encode("<g>--", kPlain), (Ids{'<', 'g', '>', 258}));
  EXPECT_EQ(tokenizer.encode("", kPlain), Ids());
}

TEST(Tokenizer, ControlTokensComeFromTemplatePiecesOnly) {
  const Tokenizer tokenizer(marked_vocabulary());
  const auto encode = [&](std::vector<PromptPiece> pieces) {
    return tokenizer.encode(pieces, {false, true});
  };
  EXPECT_EQ(encode({{"<g>", true}, {"<g>", false}, {"<g>", true}}), (Ids{259, '<', 'g', '>', 259}));
  EXPECT_EQ(encode({{"<", true}, {"g", false}, {">", true}}), (Ids{'<', 'g', '>'}));
  EXPECT_EQ(encode({{"<", true}, {"g>", true}}), (Ids{259}));
  EXPECT_EQ(encode({{"<g", true}, {">", false}}), (Ids{'<', 'g', '>'}));
  EXPECT_EQ(encode({{"<g", false}, {">", true}}), (Ids{'<', 'g', '>'}));
}

TEST(Tokenizer, PiecesAreEncodedAsOneText) {
  Vocabulary vocabulary = test::byte_vocabulary({"a b"});
  vocabulary.tokens.push_back("--");
  vocabulary.types.push_back(TokenType::user_defined);
  const Tokenizer tokenizer(vocabulary);
  const std::vector<PromptPiece> pieces = {{"xa", true}, {"b-", false}, {"-", true}};
  EXPECT_EQ(tokenizer.encode(pieces, {}), (Ids{'x', 256, 257}));
}

TEST(Tokenizer, AddsBosAndEosAsTheFileOrTheFamilySays) {
  Vocabulary vocabulary = marked_vocabulary();
  vocabulary.special.bos = 256;
  vocabulary.special.eos = 259;
  EXPECT_EQ(Tokenizer(vocabulary).encode("x"), (Ids{'x'}));
  vocabulary.pre = "llama3";
  EXPECT_EQ(Tokenizer(vocabulary).encode("x"), (Ids{256, 'x'}));
  vocabulary.add_bos = false;
  vocabulary.add_eos = true;
  EXPECT_EQ(Tokenizer(vocabulary).encode("x"), (Ids{'x', 259}));
  EXPECT_EQ(Tokenizer(vocabulary).encode("x", kPlain), (Ids{'x'}));
}

TEST(Tokenizer, SentencePieceHasDefaultIdsAndBos) {
  const Tokenizer tokenizer(test::piece_vocabulary({"a"}));
  EXPECT_EQ(tokenizer.special().bos, 1);
  EXPECT_EQ(tokenizer.special().eos, 2);
  EXPECT_EQ(tokenizer.special().unknown, 0);
  EXPECT_EQ(tokenizer.encode(""), (Ids{1}));
}

TEST(Tokenizer, TheEndOfGenerationIsNamedByIdOrSpelling) {
  Vocabulary vocabulary = marked_vocabulary();
  vocabulary.special.eos = 256;
  const int32_t turn_end = test::add_token(vocabulary, "<|im_end|>", TokenType::user_defined);
  const Tokenizer tokenizer(vocabulary);
  EXPECT_TRUE(tokenizer.is_end_of_generation(256));
  EXPECT_TRUE(tokenizer.is_end_of_generation(turn_end));
  EXPECT_FALSE(tokenizer.is_end_of_generation(259));
  // An end token is control even if the file marks it otherwise: text must not spell it.
  EXPECT_TRUE(tokenizer.is_control(turn_end));
  EXPECT_EQ(tokenizer.encode("<|im_end|>", kPlain).size(), 10u);
}

TEST(Tokenizer, AStrikethroughTagDoesNotEndGemmasAnswer) {
  Vocabulary vocabulary = marked_vocabulary();
  const int32_t tag = test::add_token(vocabulary, "</s>", TokenType::user_defined);
  EXPECT_FALSE(Tokenizer(vocabulary).is_end_of_generation(tag));
}

TEST(Tokenizer, InTheHarmonyFormatAMessageEndIsNotTheAnswersEnd) {
  Vocabulary vocabulary = marked_vocabulary();
  const int32_t end = test::add_token(vocabulary, "<|end|>", TokenType::control);
  EXPECT_TRUE(Tokenizer(vocabulary).is_end_of_generation(end));
  const int32_t channel = test::add_token(vocabulary, "<|channel|>", TokenType::control);
  const int32_t last = test::add_token(vocabulary, "<|return|>", TokenType::control);
  test::add_token(vocabulary, "<|call|>", TokenType::control);
  const Tokenizer harmony(vocabulary);
  EXPECT_FALSE(harmony.is_end_of_generation(end));
  EXPECT_TRUE(harmony.is_end_of_generation(last));
  EXPECT_FALSE(harmony.is_control(channel));
}

TEST(Tokenizer, FindsSpecialTokensByTheirWholeSpelling) {
  const Tokenizer tokenizer(marked_vocabulary());
  EXPECT_EQ(tokenizer.find_special("<g>"), 259);
  EXPECT_EQ(tokenizer.find_special("--"), 258);
  EXPECT_EQ(tokenizer.find_special("<g>x"), std::nullopt);
  EXPECT_EQ(tokenizer.find_special("a"), std::nullopt);
  EXPECT_EQ(tokenizer.find_special(""), std::nullopt);
}

TEST(Tokenizer, IdsOutsideTheVocabularyAreErrors) {
  const Tokenizer tokenizer(marked_vocabulary());
  EXPECT_THROW(tokenizer.bytes(260), Error);
  EXPECT_THROW(tokenizer.bytes(-1), Error);
  EXPECT_THROW(tokenizer.is_control(260), Error);
  EXPECT_FALSE(tokenizer.is_end_of_generation(260));
}

}  // namespace
}  // namespace arion
