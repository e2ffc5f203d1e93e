#include "signal_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace arion::app {
namespace {

std::atomic<int> signal_file{-1};  // where the handler writes

void write_signal(int number) {
  const int error = errno;
  const auto byte = static_cast<char>(number);
  // A full pipe has signals enough to look at.
  [[maybe_unused]] const ssize_t written = write(signal_file, &byte, 1);
  errno = error;
}

}  // namespace

SignalPipe::SignalPipe(std::initializer_list<int> signals) {
  if (pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    fail(ErrorCode::failed, "cannot make a pipe: {}", std::strerror(errno));
  }
  signal_file = ends_[1];
  struct sigaction action = {};
  action.sa_handler = write_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : signals) {
    struct sigaction before = {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
    before_.emplace_back(number, before);
  }
}

SignalPipe::~SignalPipe() {
  for (const auto& [number, action] : before_) sigaction(number, &action, nullptr);
  signal_file = -1;
  close(ends_[0]);
  close(ends_[1]);
}

int SignalPipe::take() const {
  char byte = 0;
  return read(ends_[0], &byte, 1) == 1 ? byte : 0;
}

}  // namespace arion::app
