// The scanners against the regexes they replace, and against each rule's fine print.
#include "text/pre_tokenizer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/fuzz_golden.h"

namespace arion {
namespace {

using Words = std::vector<std::string>;

Words words(Split split, std::string_view text) {
  Words out;
  WordScanner scanner(split, text);
  for (auto word = scanner.next(); !word.empty(); word = scanner.next()) out.emplace_back(word);
  return out;
}

struct NamedSplit {
  const char* name;
  Split split;
};
constexpr NamedSplit kSplits[] = {{"gpt2", Split::gpt2},
                                  {"digits_gpt2", Split::digits_gpt2},
                                  {"llama3", Split::llama3},
                                  {"qwen2", Split::qwen2},
                                  {"generic", Split::generic}};

TEST(WordScanner, CutsFuzzedStringsAsTheRegexesDo) {
  const auto golden = test::fuzz_golden();
  const auto& strings = golden.at("strings");
  ASSERT_EQ(strings.size(), 500u);
  for (const auto& [name, split] : kSplits) {
    const auto& hashes = golden.at("splits").at(name);
    for (size_t i = 0; i < strings.size(); ++i) {
      const std::string text = strings[i];
      std::vector<int32_t> lengths;
      const Words got = words(split, text);
      for (const auto& word : got) lengths.push_back(static_cast<int32_t>(word.size()));
      EXPECT_EQ(test::fnv(lengths), hashes[i].get<uint32_t>())
          << name << " " << testing::PrintToString(text) << " -> " << testing::PrintToString(got);
    }
  }
}

TEST(WordScanner, LosesNoByteOfRandomGarbage) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 40, 0);
    const bool is_wild = random() % 2;
    for (char& c : text)
      c = static_cast<char>(is_wild ? random() : " \n'a1.s\xC3\xA9\xE2"[random() % 11]);
    for (const auto& [name, split] : kSplits) {
      std::string joined;
      for (const auto& word : words(split, text)) joined += word;
      ASSERT_EQ(joined, text) << name;
    }
  }
}

TEST(WordScanner, LeavesOneSpaceForTheWordBehind) {
  EXPECT_EQ(words(Split::gpt2, "a   b  "), (Words{"a", "  ", " b", "  "}));
  EXPECT_EQ(words(Split::gpt2, "a\n\nb"), (Words{"a", "\n", "\n", "b"}));
  EXPECT_EQ(words(Split::llama3, "a \n\n  b"), (Words{"a", " \n\n", " ", " b"}));
}

TEST(WordScanner, ContractionsFoldCaseOnlyWhereTheRegexSaysSo) {
  EXPECT_EQ(words(Split::gpt2, "it's IT'S"), (Words{"it", "'s", " IT", "'", "S"}));
  EXPECT_EQ(words(Split::llama3, "it's IT'S x'\u017f"),
            (Words{"it", "'s", " IT", "'S", " x", "'\u017f"}));
}

TEST(WordScanner, NumbersComeInGroupsOfTheSplit) {
  EXPECT_EQ(words(Split::gpt2, "a 12345"), (Words{"a", " 12345"}));
  EXPECT_EQ(words(Split::digits_gpt2, "a 12"), (Words{"a", " ", "1", "2"}));
  EXPECT_EQ(words(Split::llama3, "a 12345"), (Words{"a", " ", "123", "45"}));
  EXPECT_EQ(words(Split::qwen2, "a 12"), (Words{"a", " ", "1", "2"}));
  EXPECT_EQ(words(Split::generic, "a 12345"), (Words{"a", " ", "123", "45"}));
}

TEST(WordScanner, SpacesInFrontOfADigitStayOnePiece) {
  // The digits are cut first, so for what is left the text ends after the spaces.
  EXPECT_EQ(words(Split::digits_gpt2, "a   1"), (Words{"a", "   ", "1"}));
}

TEST(FindPreTokenizer, KnowsFlagsAndTakesNoNameAsDefault) {
  EXPECT_EQ(find_pre_tokenizer("").split, Split::generic);
  EXPECT_EQ(find_pre_tokenizer("smollm").split, Split::digits_gpt2);
  EXPECT_TRUE(find_pre_tokenizer("llama-bpe").ignores_merges);
  EXPECT_TRUE(find_pre_tokenizer("llama-bpe").adds_bos);
  EXPECT_FALSE(find_pre_tokenizer("qwen2").adds_bos);
  EXPECT_THROW(find_pre_tokenizer("no-such"), Error);
}

}  // namespace
}  // namespace arion
