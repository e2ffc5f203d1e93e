// Token events on their way from the engine's thread to the I/O thread, in batches.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/request.h"

namespace arion {

struct TimedEvent {
  std::chrono::steady_clock::time_point time;  // when the engine sent it
  TokenEvent event;
};

// Thread-safe. The sinks share its state and may outlive it.
class EventMailbox {
 public:
  // `wake` is called by the engine's thread when there are events to take that it was not yet
  // called for.
  explicit EventMailbox(std::function<void()> wake);
  // Later events are dropped.
  ~EventMailbox();
  EventMailbox(const EventMailbox&) = delete;
  EventMailbox& operator=(const EventMailbox&) = delete;

  // What to give to Engine::submit.
  Sink sink() const;
  // Puts all events that wait into `events`, which are cleared first; their memory is used again.
  void take(std::vector<TimedEvent>& events);

 private:
  struct State {
    std::mutex mutex;
    std::vector<TimedEvent> events;
    std::function<void()> wake;  // empty: closed
    bool is_awake = false;       // called, and nothing taken since
  };

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace arion
