// Decoding of well-formed and ill-formed UTF-8, and the generated class table.
#include "text/unicode.h"

#include <gtest/gtest.h>

#include <vector>

namespace arion {
namespace {

// (length, is valid, is cut) of each character.
std::vector<std::tuple<int, bool, bool>> shape(std::string_view text) {
  std::vector<std::tuple<int, bool, bool>> out;
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    out.emplace_back(c.length, c.is_valid, c.is_cut);
    text.remove_prefix(c.length);
  }
  return out;
}

TEST(Utf8, EveryCodePointSurvivesEncodingAndDecoding) {
  for (char32_t code_point = 0; code_point <= 0x10FFFF; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    std::string text;
    append_utf8(text, code_point);
    const Utf8Char c = decode_utf8(text);
    ASSERT_TRUE(c.is_valid && c.code_point == code_point && c.length == text.size())
        << uint32_t{code_point};
  }
}

TEST(Utf8, IllFormedBytesAreCutIntoMaximalSubparts) {
  // Unicode 16, table 3-8 and the examples beside it.
  using Shape = std::vector<std::tuple<int, bool, bool>>;
  const std::tuple bad = {1, false, false};
  EXPECT_EQ(shape("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            (Shape{bad, bad, bad, bad, bad, bad, bad, bad, {1, true, false}}));
  EXPECT_EQ(shape("\xED\xA0\x80"), (Shape{bad, bad, bad}));  // a surrogate
  EXPECT_EQ(shape("\xF4\x91\x92\x93\xFF\x41"), (Shape{bad, bad, bad, bad, bad, {1, true, false}}));
  EXPECT_EQ(
      shape("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"),
      (Shape{{2, false, false}, bad, {3, false, false}, {2, false, false}, {1, true, false}}));
}

TEST(Utf8, TextThatEndsInsideACharacterIsMarkedAsCut) {
  for (const std::string_view whole : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    for (size_t length = 1; length < whole.size(); ++length) {
      const Utf8Char c = decode_utf8(whole.substr(0, length));
      EXPECT_TRUE(c.is_cut && !c.is_valid && c.length == length);
    }
    EXPECT_FALSE(decode_utf8(whole).is_cut);
  }
  EXPECT_FALSE(decode_utf8("\x80").is_cut);
}

TEST(UnicodeFlags, KnowTheClassesOfUnicode16) {
  EXPECT_EQ(unicode_flags('a'), kLetter | kLower | kWord);
  EXPECT_EQ(unicode_flags(U'Ж'), kLetter | kUpper | kWord);
  EXPECT_EQ(unicode_flags(U'ǅ'), kLetter | kUpper | kWord);
  EXPECT_EQ(unicode_flags(U'世'), kLetter | kWord);
  EXPECT_EQ(unicode_flags(U'٣'), kNumber | kDigit | kWord);
  EXPECT_EQ(unicode_flags(U'½'), kNumber);
  EXPECT_EQ(unicode_flags(0x0301), kMark | kWord);
  EXPECT_EQ(unicode_flags('_'), kPunctuation | kWord);
  EXPECT_EQ(unicode_flags('$'), kSymbol);
  EXPECT_EQ(unicode_flags(U'Ⓐ'), kSymbol | kWord);             // Other_Alphabetic
  EXPECT_EQ(unicode_flags(0x1C89), kLetter | kUpper | kWord);  // new in 16.0
  EXPECT_EQ(unicode_flags(0x110000), 0);
}

TEST(UnicodeFlags, HaveTheTwentyFiveWhiteSpaceCharacters) {
  int count = 0;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) count += (unicode_flags(c) & kSpace) != 0;
  EXPECT_EQ(count, 25);
  for (const char32_t c : {U' ', U'\t', U'\v', U'\u0085', U'\u00a0', U'\u3000'}) {
    EXPECT_TRUE(unicode_flags(c) & kSpace) << uint32_t{c};
  }
  for (const char32_t c : {U'\u200b', U'\u180e', U'\x1c'}) {
    EXPECT_FALSE(unicode_flags(c) & kSpace) << uint32_t{c};
  }
}

}  // namespace
}  // namespace arion
