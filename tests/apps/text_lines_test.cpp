#include "text_lines.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace arion::app {
namespace {

using Lines = std::vector<std::pair<std::string, size_t>>;

Lines lines_of(std::string_view text) {
  Lines lines;
  for_each_line(text,
                [&](std::string_view line, size_t number) { lines.emplace_back(line, number); });
  return lines;
}

TEST(TextLines, AreCountedFromOneWithOrWithoutALineFeedAtTheEnd) {
  EXPECT_EQ(lines_of(""), Lines{});
  EXPECT_EQ(lines_of("\n"), (Lines{{"", 1}}));
  EXPECT_EQ(lines_of("a\n\nb"), (Lines{{"a", 1}, {"", 2}, {"b", 3}}));
  EXPECT_EQ(lines_of("a\n\nb\n"), lines_of("a\n\nb"));
}

TEST(TextLines, OfSpacesAloneAreBlank) {
  EXPECT_TRUE(is_blank(""));
  EXPECT_TRUE(is_blank(" \t\r"));
  EXPECT_FALSE(is_blank(" x"));
}

}  // namespace
}  // namespace arion::app
