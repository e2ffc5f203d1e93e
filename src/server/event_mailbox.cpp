#include "server/event_mailbox.h"

#include <utility>

namespace arion {

EventMailbox::EventMailbox(std::function<void()> wake) {
  state_->wake = std::move(wake);
}

EventMailbox::~EventMailbox() {
  const std::lock_guard lock(state_->mutex);
  state_->wake = nullptr;
}

Sink EventMailbox::sink() const {
  return {[state = state_](TokenEvent event) {
            const auto now = std::chrono::steady_clock::now();
            const std::lock_guard lock(state->mutex);
            if (state->wake) state->events.push_back({now, std::move(event)});
          },
          [state = state_] {
            const std::lock_guard lock(state->mutex);
            if (!state->wake || state->events.empty() || state->is_awake) return;
            state->is_awake = true;
            state->wake();
          }};
}

void EventMailbox::take(std::vector<TimedEvent>& events) {
  events.clear();
  const std::lock_guard lock(state_->mutex);
  events.swap(state_->events);
  state_->is_awake = false;
}

}  // namespace arion
