// A queue of token events for a client that wants to wait for them on its own thread.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "engine/request.h"

namespace arion {

// Thread-safe. May serve several requests, and may end before they do.
class EventQueue {
 public:
  // What to give to Engine::submit.
  Sink sink() const;
  // Waits for the next event; nullopt when none came in time.
  std::optional<TokenEvent> pop(std::chrono::milliseconds patience);
  TokenEvent pop();

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<TokenEvent> events;
  };
  static TokenEvent take(State& state);

  std::shared_ptr<State> state_ = std::make_shared<State>();  // shared with the sinks
};

}  // namespace arion
