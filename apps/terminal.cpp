// The log level, colours and control characters of what goes to standard error.
#include "terminal.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>

#include "base/error.h"

namespace arion::app {
namespace {

constexpr std::array<std::string_view, 4> kLevelNames = {"error", "warning", "info", "debug"};
constexpr std::array<std::string_view, 4> kLevelColours = {"\x1b[1;31m", "\x1b[1;33m", "\x1b[1m",
                                                           "\x1b[2m"};
constexpr int kBarWidth = 30;

// The one global of the program, not the library: messages come from everywhere in it.
std::atomic<LogLevel> current_level = LogLevel::info;

}  // namespace

LogLevel parse_log_level(std::string_view name) {
  const auto* found = std::find(kLevelNames.begin(), kLevelNames.end(), name);
  if (found == kLevelNames.end()) {
    fail(ErrorCode::usage, "--log-level is '{}', expected one of {}", name,
         fmt::join(kLevelNames, ", "));
  }
  return static_cast<LogLevel>(found - kLevelNames.begin());
}

void set_log_level(LogLevel level) {
  current_level = level;
}

bool is_logged(LogLevel level) {
  return level <= current_level;
}

bool is_terminal(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  return isatty(fileno(stream)) != 0 && term != nullptr && *term != '\0' &&
         std::string_view(term) != "dumb";
}

bool has_colour(std::FILE* stream) {
  const char* plain = std::getenv("NO_COLOR");
  return is_terminal(stream) && (plain == nullptr || *plain == '\0');
}

std::string show_controls(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if ((byte < 0x20 && text[i] != '\n' && text[i] != '\t') || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      out += fmt::format("\\x{:02x}", next);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

void log_message(LogLevel level, std::string_view text) {
  const auto index = static_cast<size_t>(level);
  const bool colour = has_colour(stderr);
  fmt::print(stderr, "arion: {}{}:{} {}\n", colour ? kLevelColours[index] : "", kLevelNames[index],
             colour ? "\x1b[0m" : "", show_controls(text));
}

Progress::Progress(std::string label, uint64_t total)
    : label_(std::move(label)),
      total_(std::max<uint64_t>(total, 1)),
      is_shown_(isatty(fileno(stderr)) != 0 && is_logged(LogLevel::info)) {}

Progress::~Progress() {
  if (is_drawn_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::update(uint64_t done) {
  if (!is_shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (is_drawn_ && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  is_drawn_ = true;
  const double share = static_cast<double>(std::min(done, total_)) / static_cast<double>(total_);
  const int filled = static_cast<int>(share * kBarWidth);
  fmt::print(stderr, "\r{} [{:#<{}}{:.<{}}] {:3.0f} %\x1b[K", label_, "", filled, "",
             kBarWidth - filled, 100 * share);
  std::fflush(stderr);
}

}  // namespace arion::app
