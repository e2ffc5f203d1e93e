// Nothing of a stop string leaks, nothing else is lost, however the bytes arrive.
#include "text/stop_matcher.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"

namespace arion {
namespace {

using Stops = std::vector<std::string>;

TEST(StopMatcher, EmitsTheTextBeforeTheStopString) {
  StopMatcher matcher(Stops{"STOP", "\n\n"});
  EXPECT_EQ(matcher.push("say ST"), "say ");
  EXPECT_EQ(matcher.push("AND\n"), "STAND");
  EXPECT_EQ(matcher.push("ok ST"), "\nok ");
  EXPECT_EQ(matcher.stop(), std::nullopt);
  EXPECT_EQ(matcher.push("OP more"), "");
  EXPECT_EQ(matcher.stop(), 0u);
  EXPECT_EQ(matcher.push("later"), "");
  EXPECT_EQ(matcher.finish(), "");
}

TEST(StopMatcher, FinishGivesBackWhatWasHeld) {
  StopMatcher matcher(Stops{"STOP"});
  EXPECT_EQ(matcher.push("a STO"), "a ");
  EXPECT_EQ(matcher.finish(), "STO");
  EXPECT_EQ(matcher.stop(), std::nullopt);
}

TEST(StopMatcher, TheStopStringThatEndsFirstWinsThenTheLongest) {
  StopMatcher first(Stops{"abcd", "bc"});
  EXPECT_EQ(first.push("xabcd"), "xa");
  EXPECT_EQ(first.stop(), 1u);
  StopMatcher longest(Stops{"bc", "abc"});
  EXPECT_EQ(longest.push("xabc"), "x");
  EXPECT_EQ(longest.stop(), 1u);
}

TEST(StopMatcher, WithoutStopStringsEverythingPasses) {
  StopMatcher matcher({});
  EXPECT_EQ(matcher.push("any \xFF"), "any \xFF");
}

TEST(StopMatcher, RefusesEmptyAndEndlessStopStrings) {
  EXPECT_THROW(StopMatcher(Stops{"a", ""}), Error);
  EXPECT_THROW(StopMatcher(Stops{std::string(100000, 'a')}), Error);
}

TEST(StopMatcher, AgreesWithASearchOfTheWholeText) {
  std::mt19937 random(13);
  const auto random_text = [&](size_t length) {
    std::string text(length, 0);
    for (char& c : text) c = "ab"[random() % 2];
    return text;
  };
  for (int round = 0; round < 5000; ++round) {
    Stops stops;
    for (int i = random() % 4; i >= 0; --i) stops.push_back(random_text(1 + random() % 5));
    const std::string text = random_text(random() % 30);
    // First end, then earliest begin.
    size_t end = std::string::npos, begin = text.size();
    for (const auto& stop : stops) {
      const size_t at = text.find(stop);
      if (at == std::string::npos) continue;
      if (at + stop.size() < end || (at + stop.size() == end && at < begin)) {
        end = at + stop.size();
        begin = at;
      }
    }
    StopMatcher matcher(stops);
    std::string shown;
    for (size_t at = 0; at < text.size();) {
      const size_t length = 1 + random() % 5;
      shown += matcher.push(std::string_view(text).substr(at, length));
      ASSERT_EQ(text.substr(0, shown.size()), shown);
      ASSERT_LE(shown.size(), begin);
      at += length;
    }
    shown += matcher.finish();
    ASSERT_EQ(shown, text.substr(0, begin));
    ASSERT_EQ(matcher.stop().has_value(), end != std::string::npos);
  }
}

}  // namespace
}  // namespace arion
