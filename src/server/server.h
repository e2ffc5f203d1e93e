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
  // Listens from now on, and answers when run. Engine and model must outlive the server. Throws
  // Error when the address cannot be used.
  Server(Engine& engine, const ServedModel& model, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const;
  std::string address() const;

  // Serves until it has drained.
  void run();
  // SIGTERM and SIGINT drain; a second one ends at once. Called before run.
  void drain_on_signals();
  // No more requests; ends when those in progress have been answered, or with an error to them when
  // they take too long. Again: ends at once. Thread-safe.
  void drain();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace arion
