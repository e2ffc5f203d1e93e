// The engine behind a handle of the C interface, and behind its requests.
#pragma once
#include <mutex>
#include <string>
#include <unordered_set>

#include "assembly/answering_engine.h"

namespace arion {

class ClientRequest;

// Thread-safe. Lives until handle and requests are gone.
class ClientEngine {
 public:
  explicit ClientEngine(const AnsweringOptions& options, const LoadProgress& on_progress)
      : answering_(options, on_progress) {}

  Engine& engine() { return answering_.engine(); }
  const ServedModel& model() const { return answering_.model(); }

  // JSON objects, see arion.h.
  std::string describe() const;
  std::string describe_stats();

  // Requests that cancel_all reaches.
  void enter(ClientRequest& request);
  void leave(ClientRequest& request);
  void cancel_all();

 private:
  AnsweringEngine answering_;
  std::mutex mutex_;
  std::unordered_set<ClientRequest*> requests_;  // guarded by mutex_
};

}  // namespace arion
