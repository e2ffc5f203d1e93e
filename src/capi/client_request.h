// One request of the C interface: all choices of its prompts.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "api/choice.h"
#include "capi/client_engine.h"
#include "capi/event_view.h"
#include "engine/event_queue.h"

namespace arion {

// Used by one thread, but for cancel, which may be called by any.
class ClientRequest {
 public:
  // Submits all choices, or none and throws Error.
  ClientRequest(std::shared_ptr<ClientEngine> engine, GenerationRequest request);
  ~ClientRequest();  // cancels what has not ended
  ClientRequest(const ClientRequest&) = delete;
  ClientRequest& operator=(const ClientRequest&) = delete;

  bool has_ended() const { return ended_ == choices_.size(); }
  // The next event of any choice, valid until the next call; null if none came in time.
  // Without a time-out it waits for as long as it takes. Not to be called behind the end.
  const arion_event* next(std::optional<std::chrono::milliseconds> timeout);
  void cancel();

  std::span<const Prompt> prompts() const { return request_.prompts; }
  size_t answers_per_prompt() const { return static_cast<size_t>(request_.n); }

 private:
  Choice& choice_of(RequestId id);

  std::shared_ptr<ClientEngine> engine_;
  const GenerationRequest request_;
  EventQueue queue_;
  std::vector<Choice> choices_;
  std::vector<RequestId> ids_;  // of the engine's requests, by choice: ascending
  size_t ended_ = 0;            // choices
  EventView view_;
};

}  // namespace arion
