// The scanners against the regexes they replace, and against each rule's fine print.
#include "text/word_splitter.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/fuzz_golden.h"
#include "text/pre_tokenizer.h"
#include "text/unicode.h"

namespace arion {
namespace {

using Words = std::vector<std::string>;

Words words(const WordSplitter& splitter, std::string_view text) {
  std::vector<Word> ranges;
  splitter.split(text, ranges);
  Words out;
  for (const Word word : ranges) out.emplace_back(text.substr(word.begin, word.end - word.begin));
  return out;
}

// The words that a value of tokenizer.ggml.pre gives.
Words words(std::string_view pre, std::string_view text) {
  return words(WordSplitter(find_pre_tokenizer(pre).regexes), text);
}

// Strings of what regexes care about: classes, case, contractions, runs, line ends.
std::string random_text(std::mt19937& random) {
  const auto pick = [&](std::initializer_list<const char*> list) {
    return *(list.begin() + random() % list.size());
  };
  std::string text;
  for (int i = random() % 14; i > 0; --i) {
    switch (random() % 8) {
      case 0:
        text += pick({"'s", "'S", "'re", "'LL", "'ve", "'\u017f", "'", "'t'", "'d", "'x"});
        break;
      case 1:
        text += pick({" ", "  ", "   ", "\n", "\r\n", "\t", " \n ", "\u00a0", "\u3000", "\u180e"});
        break;
      case 2:
        text += pick({"1", "12", "123", "1234567", "٣٤", "½", "Ⅷ", "12345 ", "²"});
        break;
      case 3:
        text += pick({"ABC", "abc", "Abc", "aBc", "ʰA", "ǅa", "ÉÉ", "ж", "ЖЖж", "ªB"});
        break;
      case 4:
        text += pick({"世界", "ひらがな", "カナ", "한글", "ㄱ", "ㄅ", "ไทย", "नमस्ते", "龥龦"});
        break;
      case 5:
        text += pick({".", "...", "/", "!/\n", "$", "_", "-x", "，", "“", "€", "+", "(", "~"});
        break;
      case 6:
        text += pick({"\u0301", "e\u0301", "\u0301A", "\u200d", "\x01", "\x01\x02", "\ufffd", "😀"});
        break;
      default:
        // Not beyond what old versions of PCRE2 know of Unicode.
        append_utf8(text, random() % 2 ? random() % 0x500 : 0x3000 + random() % 0x6000);
    }
  }
  return text;
}

TEST(Scanners, CutAsTheirRegexesDo) {
  std::mt19937 random(5);
  std::vector<std::string> texts;
  for (int i = 0; i < 2000; ++i) texts.push_back(random_text(random));
  for (const std::string_view pattern : scanned_patterns()) {
    // The same regex in another spelling has no scanner.
    const std::string other = "(?:" + std::string(pattern) + ")";
    const std::string_view list[] = {other};
    ASSERT_EQ(find_scanner(other), nullptr);
    const WordSplitter scanner({&pattern, 1}), regex(list);
    for (const std::string& text : texts) {
      ASSERT_EQ(words(scanner, text), words(regex, text))
          << pattern << " " << testing::PrintToString(text);
    }
  }
}

TEST(WordSplitter, CutsFuzzedStringsAsTheRegexesDo) {
  const auto golden = test::fuzz_golden();
  const auto& strings = golden.at("strings");
  ASSERT_EQ(strings.size(), 2000u);
  for (const auto& [name, pre] : {std::pair("gpt2", "gpt-2"),
                                  {"digits_gpt2", "smollm"},
                                  {"llama3", "llama-bpe"},
                                  {"qwen2", "qwen2"},
                                  {"generic", "default"}}) {
    const WordSplitter splitter(find_pre_tokenizer(pre).regexes);
    const auto& hashes = golden.at("splits").at(name);
    for (size_t i = 0; i < strings.size(); ++i) {
      const std::string text = strings[i];
      std::vector<int32_t> lengths;
      const Words got = words(splitter, text);
      for (const auto& word : got) lengths.push_back(static_cast<int32_t>(word.size()));
      EXPECT_EQ(test::fnv(lengths), hashes[i].get<uint32_t>())
          << name << " " << testing::PrintToString(text) << " -> " << testing::PrintToString(got);
    }
  }
}

TEST(WordSplitter, LosesNoByteOfRandomGarbage) {
  for (const PreTokenizer& pre : pre_tokenizers()) {
    const WordSplitter splitter(pre.regexes);
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
      std::string text(random() % 40, 0);
      const bool is_wild = random() % 2;
      for (char& c : text)
        c = static_cast<char>(is_wild ? random() : " \n'a1.s\xC3\xA9\xE2"[random() % 11]);
      std::string joined;
      for (const auto& word : words(splitter, text)) {
        ASSERT_FALSE(word.empty());
        joined += word;
      }
      ASSERT_EQ(joined, text) << pre.name;
    }
  }
}

TEST(WordSplitter, IllFormedBytesCountAsReplacementCharacters) {
  for (const PreTokenizer& pre : pre_tokenizers()) {
    const WordSplitter splitter(pre.regexes);
    for (const auto& [broken, repaired] :
         {std::pair("a\xFF b\xE2\x82 12\xC3", "a\uFFFD b\uFFFD 12\uFFFD"),
          {"\x80\x80", "\uFFFD\uFFFD"}}) {
      const Words expected = words(splitter, repaired), got = words(splitter, broken);
      ASSERT_EQ(got.size(), expected.size()) << pre.name;
      for (size_t i = 0; i < got.size(); ++i) {
        std::string shown;
        for (std::string_view rest = got[i]; !rest.empty();) {
          const Utf8Char c = decode_utf8(rest);
          append_utf8(shown, c.code_point);
          rest.remove_prefix(c.length);
        }
        ASSERT_EQ(shown, expected[i]) << pre.name;
      }
    }
  }
}

TEST(WordSplitter, LeavesOneSpaceForTheWordBehind) {
  EXPECT_EQ(words("gpt-2", "a   b  "), (Words{"a", "  ", " b", "  "}));
  EXPECT_EQ(words("gpt-2", "a\n\nb"), (Words{"a", "\n", "\n", "b"}));
  EXPECT_EQ(words("llama-bpe", "a \n\n  b"), (Words{"a", " \n\n", " ", " b"}));
}

TEST(WordSplitter, ContractionsFoldCaseOnlyWhereTheRegexSaysSo) {
  EXPECT_EQ(words("gpt-2", "it's IT'S"), (Words{"it", "'s", " IT", "'", "S"}));
  EXPECT_EQ(words("llama-bpe", "it's IT'S x'\u017f"),
            (Words{"it", "'s", " IT", "'S", " x", "'\u017f"}));
}

TEST(WordSplitter, NumbersComeInGroupsOfTheSplit) {
  EXPECT_EQ(words("gpt-2", "a 12345"), (Words{"a", " 12345"}));
  EXPECT_EQ(words("smollm", "a 12"), (Words{"a", " ", "1", "2"}));
  EXPECT_EQ(words("llama-bpe", "a 12345"), (Words{"a", " ", "123", "45"}));
  EXPECT_EQ(words("qwen2", "a 12"), (Words{"a", " ", "1", "2"}));
  EXPECT_EQ(words("default", "a 12345"), (Words{"a", " ", "123", "45"}));
}

TEST(WordSplitter, SpacesInFrontOfADigitStayOnePiece) {
  // The digits are cut first, so for what is left the text ends after the spaces.
  EXPECT_EQ(words("smollm", "a   1"), (Words{"a", "   ", "1"}));
}

TEST(WordSplitter, FamiliesCutAsTheirRegexesSay) {
  EXPECT_EQ(words("gpt-4o", "HelloWorld's IT'S 1234 a/b//\n"),
            (Words{"Hello", "World's", " IT'S", " ", "123", "4", " a", "/b", "//\n"}));
  EXPECT_EQ(words("tekken", "HTTPServer 12"), (Words{"HTTPServer", " ", "1", "2"}));
  EXPECT_EQ(words("deepseek-v3", "x=1234 日本 _foo.bar"),
            (Words{"x", "=", "123", "4", " ", "日本", " _", "foo", ".bar"}));
  EXPECT_EQ(words("tiny_aya", "1234567 89a"), (Words{"1", "234", "567", " ", "89", "a"}));
  EXPECT_EQ(words("superbpe", "a 1234567 b"), (Words{"a ", "1", "234", "567", " b"}));
  EXPECT_EQ(words("kimi-k2", "你好World你"), (Words{"你好", "World", "你"}));
  EXPECT_EQ(words("exaone-moe", "two words, 3"), (Words{"two words", ",", " ", "3"}));
  EXPECT_EQ(words("gemma4", "a b\n\nc"), (Words{"a b", "\n\n", "c"}));
  EXPECT_EQ(words("jais-2", "a       b"), (Words{"a", "    ", "  ", " b"}));
  EXPECT_EQ(words("chameleon", "IMGIMGABZ\tx"), (Words{"IMGIMGABZ", "\t", "x"}));
  EXPECT_EQ(words("bloom", "one (two), x"), (Words{"one", " (", "two", "),", " x"}));
}

TEST(WordSplitter, LongRunsNeitherFailNorTakeLong) {
  std::set<const std::string_view*> seen;
  for (const PreTokenizer& pre : pre_tokenizers()) {
    if (!seen.insert(pre.regexes.data()).second) continue;
    const WordSplitter splitter(pre.regexes);
    for (const std::string_view unit : {"a", "A", " ", "7", ".", "\n", "中", "e\u0301", "a b"}) {
      std::string text;
      while (text.size() < 30'000) text += unit;
      std::vector<Word> ranges;
      splitter.split(text, ranges);
      EXPECT_EQ(ranges.back().end, text.size()) << pre.name << " " << unit;
    }
  }
}

TEST(Regex, RefusesWhatPcre2ReadsDifferently) {
  EXPECT_THROW(Regex("["), Error);
  EXPECT_THROW(Regex("[a-z&&[^b]]"), Error);
  EXPECT_THROW(Regex("(?<n>"), Error);
}

TEST(Regex, FollowsOniguruma) {
  RegexMatcher matcher;
  const auto matches = [&](const char* pattern, std::string_view text) {
    return matcher.find(Regex(pattern), text, 0).has_value();
  };
  EXPECT_FALSE(matches(R"(\s)", "\u180e"));
  EXPECT_TRUE(matches(R"([\s])", "\u3000"));
  EXPECT_FALSE(matches(R"(\S)", " \t\u0085"));
  EXPECT_TRUE(matches(R"(^\h$)", "f"));
  EXPECT_TRUE(matches(R"(^\w\w\b-\B$)", "e\u0301-"));
  EXPECT_TRUE(matches("a$", "a\nb"));
  EXPECT_TRUE(matches("[]x]", "]"));
  EXPECT_TRUE(matches("[[:alpha:]]", "é"));
}

TEST(Regex, GivesUpWhenBacktrackingHasNoEnd) {
  RegexMatcher matcher;
  EXPECT_THROW(matcher.find(Regex("(a+)+(a+)+(a+)+[bc]"), std::string(3000, 'a') + "-b", 0), Error);
}

TEST(FindPreTokenizer, KnowsFlagsAndTakesNoNameAsDefault) {
  EXPECT_EQ(pre_tokenizers().size(), 87u);
  EXPECT_EQ(find_pre_tokenizer("").name, "default");
  EXPECT_TRUE(find_pre_tokenizer("llama-bpe").traits.ignores_merges);
  EXPECT_TRUE(find_pre_tokenizer("llama-bpe").traits.adds_bos);
  EXPECT_FALSE(find_pre_tokenizer("qwen2").traits.adds_bos);
  EXPECT_TRUE(find_pre_tokenizer("roberta-bpe").traits.adds_separator);
  EXPECT_THROW(find_pre_tokenizer("no-such"), Error);
}

}  // namespace
}  // namespace arion
