// Ctrl-C as a flag instead of the end of the program.
#pragma once
#include <csignal>

namespace arion::app {

// While one lives, Ctrl-C raises the flag. They nest; the outermost one lowers the flag when made.
// Of one thread.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool is_raised();
  static void lower();

 private:
  struct sigaction before_ = {};
};

}  // namespace arion::app
