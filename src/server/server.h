// A server of one model: HTTP on one thread, the engine on its own.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "api/served_model.h"
#include "engine/engine.h"
#include "server/http/http_server.h"
#include "server/service.h"

namespace arion {

struct ServerOptions {
  HttpOptions http;
  ServiceOptions service;
  std::chrono::milliseconds drain{30'000};  // for answers in progress when the server ends
};

class Server {
 public:
  // Listens from now on, and answers when run. Throws Error when the address cannot be used.
  explicit Server(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const;
  std::string address() const;

  // Serves until it has drained or is stopped.
  void run();
  // Requests are answered from now on; before, those that need the model are refused with 503.
  // Called once; both must outlive the server. Thread-safe.
  void set_model(Engine& engine, const ServedModel& model);
  // From now on SIGTERM and SIGINT drain; a second one ends at once. Thread-safe.
  void drain_on_signals();
  // No more requests; ends when those in progress have been answered, or with an error to them when
  // they take too long. Again: ends at once. Thread-safe.
  void drain();
  // Ends run without further answers. Thread-safe.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace arion
