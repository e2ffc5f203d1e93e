// An HTTP/1.1 server on one thread: connections, limits and time-outs. Knows nothing of models.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/http/http_message.h"

namespace arion {

struct HttpOptions {
  std::string host = "127.0.0.1";         // an address or a name
  uint16_t port = 8000;                   // 0: any
  std::vector<std::string> cors_origins;  // of pages that may use the server, see CorsPolicy
  size_t max_connections = 1024;
  size_t max_header_bytes = size_t{64} << 10;
  size_t max_body_bytes = size_t{16} << 20;
  size_t max_bodies_bytes = size_t{256} << 20;       // bodies being read, all connections together
  std::chrono::milliseconds idle_timeout{75'000};    // between requests
  std::chrono::milliseconds header_timeout{15'000};  // of the first request's head
  std::chrono::milliseconds body_timeout{60'000};
  std::chrono::milliseconds send_timeout{60'000};  // without progress
  std::chrono::milliseconds tick{1'000};           // how often time-outs are looked at
};

class HttpServer {
 public:
  // Binds and listens. Throws Error{failed} saying why that is not possible, or Error{usage}.
  HttpServer(const HttpOptions& options, HttpHandler& handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const;
  // "127.0.0.1:8000"
  std::string address() const;
  // Serves until stop; what it calls, it calls on the calling thread.
  void run();

  // Runs `task` on the I/O thread. Thread-safe.
  void post(std::function<void()> task);

  // The rest is of the I/O thread.
  // Calls `on_signal` for SIGTERM and SIGINT from now on.
  void watch_signals(std::function<void(int)> on_signal);
  // Accepts no more connections, closes those that wait for a request, and those that are being
  // answered when they have been.
  void close_listener();
  size_t connections() const;
  // Ends run; connections are closed.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace arion
