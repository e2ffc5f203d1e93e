// One TCP connection: requests in, one answer after another out.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "server/http/asio.h"
#include "server/http/cors.h"
#include "server/http/http_server.h"

namespace arion {

class Connection;

// What connections share. Of the I/O thread.
struct ConnectionHost {
  const HttpOptions& options;
  HttpHandler& handler;
  const CorsPolicy cors;
  size_t bodies_bytes = 0;                        // of bodies being read
  bool is_closing = false;                        // no further requests
  std::function<void(const Connection*)> forget;  // called once, when a connection is closed
};

// Of the I/O thread but for is_open. A connection is in one phase at a time; in `answering` it
// reads on to learn that the client has gone.
class Connection final : public Exchange, public std::enable_shared_from_this<Connection> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Connection(tcp::socket socket, ConnectionHost& host);

  void start();
  // Answers whatever comes with 503.
  void start_refusing();
  // Closes the connection if it has been waiting too long.
  void check_time(Time now);
  // Closes it now if it waits for a request, else behind the answer.
  void close_when_idle();
  void close();

  void reply(HttpReply reply) override;
  void begin_stream(std::string_view content_type) override;
  void send(std::string_view piece) override;
  void end_stream() override;
  bool is_sending() const override { return is_writing_; }
  bool is_open() const override { return !is_closed_; }
  void listen(Events events) override { events_ = std::move(events); }

 private:
  enum class Phase : uint8_t { idle, head, body, answering, lingering };

  void read_request();
  void on_head(error_code error);
  void read_body();
  void on_body(error_code error);
  void handle();
  void count_body(size_t bytes);
  void refuse_read(error_code error);
  void refuse_body();
  void refuse_rest(HttpReply reply);
  void refuse(HttpReply reply);
  void watch();
  void on_watched(error_code error, size_t bytes);
  void write_next();
  void on_written(error_code error, size_t bytes);
  void finish();
  void linger();
  void on_lingered(error_code error);
  void set_time_limit(std::chrono::milliseconds limit);
  std::string head_of(int status, std::string_view content_type) const;

  tcp::socket socket_;
  ConnectionHost& host_;
  std::string peer_;
  Phase phase_ = Phase::idle;
  Time deadline_ = Time::max();
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  size_t counted_body_ = 0;  // of host_.bodies_bytes

  // The answer.
  Events events_;
  std::string cors_lines_;     // of its head
  std::string out_, writing_;  // to be written; being written
  size_t written_ = 0;         // of writing_
  size_t discarded_ = 0;       // bytes read while lingering
  bool is_writing_ = false;
  bool is_watching_ = false;
  bool keeps_alive_ = false;
  bool is_head_request_ = false;
  bool is_http_1_0_ = false;
  bool is_chunked_ = false;
  bool is_ended_ = false;  // the whole answer is in out_ or written
  bool lingers_ = false;   // the client may still be sending
  std::atomic<bool> is_closed_ = false;
};

}  // namespace arion
