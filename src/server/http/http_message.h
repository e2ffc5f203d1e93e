// Requests and replies of HTTP, as handlers see them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arion {

struct HttpRequest {
  std::string method;                                        // as sent, such as "POST"
  std::string path;                                          // without the query
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string peer;                                          // address of the client
  std::string body;

  // The first with this name (lower case); empty where there is none.
  std::string_view header(std::string_view name) const;
};

struct HttpReply {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// The answering side of one request. Of the I/O thread but for is_open. Whoever answers keeps it
// until the answer ends or the client is gone, and calls nothing afterwards.
class Exchange {
 public:
  virtual ~Exchange() = default;

  // The whole answer.
  virtual void reply(HttpReply reply) = 0;
  // An answer in pieces: begin, then send any number of times, then end.
  virtual void begin_stream(std::string_view content_type) = 0;
  virtual void send(std::string_view piece) = 0;
  virtual void end_stream() = 0;
  // Whether pieces are still on their way to a client that reads slowly.
  virtual bool is_sending() const = 0;
  // Whether the client is still there. Thread-safe.
  virtual bool is_open() const = 0;

  struct Events {
    std::function<void()> on_sent;    // nothing is on its way any more
    std::function<void()> on_closed;  // the client is gone
  };
  // Called by the I/O thread until the answer ends.
  virtual void listen(Events events) = 0;
};

// What a server does with requests. Called by the I/O thread.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  // By method, path and headers, before the body is read: a reply refuses the request.
  virtual std::optional<HttpReply> check(const HttpRequest& head) = 0;
  // Must answer by the exchange, now or later.
  virtual void handle(HttpRequest request, std::shared_ptr<Exchange> exchange) = 0;
  // The reply to what is no acceptable HTTP, or more than there is room for.
  virtual HttpReply describe_error(int status, std::string_view message) = 0;
  // From time to time.
  virtual void tick() = 0;
};

}  // namespace arion
