// Log levels, control characters and silence without a terminal.
#include "terminal.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace arion::test {
namespace {

using app::LogLevel;

TEST(Terminal, LevelsAreParsedByName) {
  EXPECT_EQ(app::parse_log_level("warning"), LogLevel::warning);
  EXPECT_THROW(app::parse_log_level("Warning"), Error);
}

TEST(Terminal, MessagesAboveTheLevelAreDropped) {
  app::set_log_level(LogLevel::warning);
  testing::internal::CaptureStderr();
  app::log(LogLevel::info, "not {}", 1);
  app::log(LogLevel::warning, "shown {}", 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "arion: warning: shown 2\n");
  app::set_log_level(LogLevel::info);
}

TEST(Terminal, ControlCharactersAreMadeVisible) {
  testing::internal::CaptureStderr();
  app::log_message(LogLevel::error, "a\x1b[31mb\r\x7f");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "arion: error: a\\x1b[31mb\\x0d\\x7f\n");
}

TEST(Terminal, ProgressIsSilentWithoutATerminal) {
  testing::internal::CaptureStderr();
  {
    app::Progress progress("loading", 10);
    progress.update(5);
    progress.update(10);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace arion::test
