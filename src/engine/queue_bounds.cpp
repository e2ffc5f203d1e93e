// Two counters under a lock.
#include "engine/queue_bounds.h"

#include "base/error.h"

namespace arion {

QueueBounds::Place QueueBounds::enter(int tokens) {
  const std::lock_guard lock(mutex_);
  if (requests_ >= limits_.requests) {
    fail(ErrorCode::overloaded, "{} requests are waiting already, which is the limit", requests_);
  }
  if (requests_ > 0 && tokens_ + tokens > limits_.tokens) {
    fail(ErrorCode::overloaded,
         "prompts of {} tokens are waiting already; with {} more they exceed the limit of {}",
         tokens_, tokens, limits_.tokens);
  }
  ++requests_;
  tokens_ += tokens;
  return {*this, tokens};
}

void QueueBounds::leave(int tokens) {
  const std::lock_guard lock(mutex_);
  --requests_;
  tokens_ -= tokens;
}

}  // namespace arion
