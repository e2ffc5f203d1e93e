// Ends a command where it leaves nothing half done.
#pragma once
#include "command.h"
#include "signal_pipe.h"

namespace arion::app {

// While it lives, Ctrl-C, SIGTERM and SIGHUP take effect at the next check(). One at a time.
class StopRequest {
 public:
  // Throws Interrupted when one of the signals has come.
  void check() const {
    if (const int number = signals_.take()) throw Interrupted{number};
  }

 private:
  SignalPipe signals_{SIGINT, SIGTERM, SIGHUP};
};

}  // namespace arion::app
