// Messages on standard error and how they look: levels, colour and progress bars on terminals only.
#pragma once
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace arion::app {

enum class LogLevel : uint8_t { error, warning, info, debug };

// Throws Error{usage} naming the levels.
LogLevel parse_log_level(std::string_view name);
// Messages above the level are dropped. Set once at the start.
void set_log_level(LogLevel level);
bool is_logged(LogLevel level);

// A terminal that obeys escape sequences (TERM says so).
bool is_terminal(std::FILE* stream);
// Such a terminal whose user did not ask for plain output (NO_COLOR).
bool has_colour(std::FILE* stream);

// The text with control characters but line ends and tabs made visible, such as \x1b, so that it
// cannot control a terminal. Those of two bytes in UTF-8 (U+0080 to U+009F) are among them.
std::string show_controls(std::string_view text);

// "arion: warning: text" on standard error. Control characters in the text are made visible, since
// file names and file contents end up in messages.
void log_message(LogLevel level, std::string_view text);

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (is_logged(level)) log_message(level, fmt::format(format, std::forward<Args>(args)...));
}

// A progress bar on standard error, if that is a terminal and information is logged. Not
// thread-safe.
class Progress {
 public:
  Progress(std::string label, uint64_t total);
  ~Progress();  // removes the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of the total; redraws at most ten times a second.
  void update(uint64_t done);

 private:
  std::string label_;
  uint64_t total_;
  bool is_shown_;
  bool is_drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace arion::app
