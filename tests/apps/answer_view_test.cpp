// Answers on terminals: nothing controls them, reasoning is dim.
#include "answer_view.h"

#include <gtest/gtest.h>

namespace arion::test {
namespace {

using app::AnswerView;

std::string view(std::string_view text, app::AnswerViewOptions options, size_t piece) {
  AnswerView view(options);
  std::string shown;
  for (size_t at = 0; at < text.size(); at += piece) shown += view.push(text.substr(at, piece));
  return shown + view.finish();
}

// The same without the ends of dimming that are begun again at once.
std::string joined(std::string text) {
  const std::string seam = "\x1b[0m\x1b[2m";
  for (size_t at; (at = text.find(seam)) != std::string::npos;) text.erase(at, seam.size());
  return text;
}

TEST(AnswerView, DimsReasoningHoweverItIsCut) {
  for (size_t piece = 1; piece < 40; ++piece) {
    EXPECT_EQ(joined(view("a<think>b < c</think>d <thin", {.has_colour = true}, piece)),
              "a\x1b[2m<think>b < c</think>\x1b[0md <thin");
    EXPECT_EQ(joined(view("b</think>c", {.has_colour = true, .starts_in_reasoning = true}, piece)),
              "\x1b[2mb</think>\x1b[0mc");
  }
}

TEST(AnswerView, ColoursNothingWithoutColour) {
  EXPECT_EQ(view("<think>b</think>c", {}, 3), "<think>b</think>c");
}

TEST(AnswerView, MakesControlCharactersVisible) {
  EXPECT_EQ(view("a\x1b]0;title\x07\r\b\x7f\tb\n", {}, 100),
            "a\\x1b]0;title\\x07\\x0d\\x08\\x7f\tb\n");
  EXPECT_EQ(view("\xc2\x9b"
                 "31m \xc2\xa0\xc3\xa4",
                 {}, 100),
            "\\x9b31m \xc2\xa0\xc3\xa4");
}

}  // namespace
}  // namespace arion::test
