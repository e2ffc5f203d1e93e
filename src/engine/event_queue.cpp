// A mutex and a condition variable around a deque of events.
#include "engine/event_queue.h"

#include <utility>

namespace arion {

Sink EventQueue::sink() const {
  return {[state = state_](TokenEvent event) {
            const std::lock_guard lock(state->mutex);
            state->events.push_back(std::move(event));
          },
          [state = state_] { state->changed.notify_one(); }};
}

std::optional<TokenEvent> EventQueue::pop(std::chrono::milliseconds patience) {
  std::unique_lock lock(state_->mutex);
  const auto has_event = [&] { return !state_->events.empty(); };
  if (!state_->changed.wait_for(lock, patience, has_event)) return std::nullopt;
  return take(*state_);
}

TokenEvent EventQueue::pop() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->events.empty(); });
  return take(*state_);
}

TokenEvent EventQueue::take(State& state) {
  TokenEvent event = std::move(state.events.front());
  state.events.pop_front();
  return event;
}

}  // namespace arion
