// The built `arion` on a terminal of its own, where tests type and read.
#pragma once
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace arion::test {

class PtyProgram {
 public:
  // `environment` as NAME=value.
  PtyProgram(const std::vector<std::string>& arguments, std::vector<std::string> environment) {
    const winsize size = {.ws_row = 40, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    std::vector<std::string> words = {ARION_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    child_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ == 0) {
      for (std::string& variable : environment) putenv(variable.data());
      execv(argv[0], argv.data());
      _exit(127);
    }
    EXPECT_GT(child_, 0);
  }
  ~PtyProgram() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(terminal_);
  }
  PtyProgram(const PtyProgram&) = delete;
  PtyProgram& operator=(const PtyProgram&) = delete;

  void type(std::string_view keys) const {
    ASSERT_EQ(write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  // What has been shown since the last call, up to and with `words`.
  std::string read_until(std::string_view words) {
    for (;;) {
      const size_t at = shown_.find(words);
      if (at != std::string::npos) {
        const std::string text = shown_.substr(0, at + words.size());
        shown_.erase(0, at + words.size());
        return text;
      }
      if (!read_more()) {
        ADD_FAILURE() << "waited for '" << words << "', shown: " << shown_;
        return {};
      }
    }
  }
  // What was shown until the next message can be typed: a prompt, where pasting is on.
  std::string read_to_prompt() {
    std::string text = read_until("\x1b[?2004h");
    return text + read_until("> ");
  }

  // Its exit code; -1 where a signal ended it.
  int wait_for_end() {
    while (read_more()) continue;
    int status = 0;
    if (is_silent_) kill(child_, SIGKILL);
    if (waitpid(child_, &status, 0) != child_) return -1;
    child_ = -1;
    EXPECT_FALSE(is_silent_) << shown_;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  const std::string& rest() const { return shown_; }
  int terminal() const { return terminal_; }
  pid_t pid() const { return child_; }

 private:
  // False at the end, or after half a minute of silence.
  bool read_more() {
    pollfd file = {terminal_, POLLIN, 0};
    is_silent_ = poll(&file, 1, 30000) <= 0;
    if (is_silent_) return false;
    char buffer[4096];
    const ssize_t got = read(terminal_, buffer, sizeof buffer);
    if (got <= 0) return false;
    shown_.append(buffer, static_cast<size_t>(got));
    return true;
  }

  int terminal_ = -1;
  pid_t child_ = -1;
  std::string shown_;
  bool is_silent_ = false;
};

}  // namespace arion::test
