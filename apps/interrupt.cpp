#include "interrupt.h"

#include <atomic>

namespace arion::app {
namespace {

std::atomic<bool> is_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler sets it
int guard_count = 0;

}  // namespace

InterruptGuard::InterruptGuard() {
  if (guard_count++ == 0) lower();
  struct sigaction action = {};
  action.sa_handler = [](int) { is_interrupted = true; };
  sigaction(SIGINT, &action, &before_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &before_, nullptr);
  --guard_count;
}

bool InterruptGuard::is_raised() {
  return is_interrupted;
}

void InterruptGuard::lower() {
  is_interrupted = false;
}

}  // namespace arion::app
