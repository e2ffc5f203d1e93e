// Signals as bytes that can be waited for together with input.
#pragma once
#include <signal.h>

#include <array>
#include <initializer_list>
#include <utility>
#include <vector>

namespace arion::app {

// While it lives, these signals are bytes in a pipe instead of what they did before; ignored ones
// stay ignored. One at a time.
class SignalPipe {
 public:
  // Throws Error{failed} when there are no files to be had.
  explicit SignalPipe(std::initializer_list<int> signals);
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  int file() const { return ends_[0]; }  // readable when a signal has come
  int take() const;                      // its number; 0 when none has come

 private:
  std::array<int, 2> ends_{-1, -1};
  std::vector<std::pair<int, struct sigaction>> before_;
};

}  // namespace arion::app
