#include "server/http/connection.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <ctime>
#include <utility>

namespace arion {
namespace {

using std::chrono::milliseconds;

constexpr size_t kReadBytes = 4096;
// Of requests sent ahead of the answer to this one.
constexpr size_t kMaxPipelinedBytes = size_t{64} << 10;
// What a client may go on sending after it was refused, so that it gets to read the reply.
constexpr size_t kMaxDiscardedBytes = size_t{16} << 20;
constexpr milliseconds kLingerTimeout{2'000};

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

HttpRequest head_of_request(const http::request<http::string_body>& message, std::string peer) {
  HttpRequest head;
  head.method = view(message.method_string());
  std::string_view target = view(message.target());
  if (target.starts_with("http://")) {  // as to proxies, which every server must accept
    target.remove_prefix(std::min(target.find('/', std::strlen("http://")), target.size()));
  }
  head.path = target.substr(0, target.find_first_of("?#"));
  for (const auto& field : message) {
    head.headers.emplace_back(lower(view(field.name_string())), view(field.value()));
  }
  head.peer = std::move(peer);
  return head;
}

// Whoever reads another end of the body than the client or a proxy takes the rest for a request.
bool has_known_end(const http::request<http::string_body>& message) {
  const auto encodings = message.count(http::field::transfer_encoding);
  return encodings == 0 || (encodings == 1 && message.version() >= 11 &&
                            lower(view(message[http::field::transfer_encoding])) == "chunked");
}

int status_of(error_code error) {
  if (error == http::error::body_limit) return 413;
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  return 400;
}

}  // namespace

Connection::Connection(tcp::socket socket, ConnectionHost& host)
    : socket_(std::move(socket)), host_(host), buffer_(host.options.max_header_bytes + kReadBytes) {
  error_code error;
  const auto endpoint = socket_.remote_endpoint(error);
  if (!error) peer_ = endpoint.address().to_string();
  socket_.set_option(tcp::no_delay(true), error);
}

void Connection::start() {
  read_request();
  set_time_limit(host_.options.header_timeout);
}

void Connection::start_refusing() {
  refuse(host_.handler.describe_error(503, "the server has too many connections"));
}

void Connection::check_time(Time now) {
  if (now >= deadline_) close();
}

void Connection::close_when_idle() {
  keeps_alive_ = false;
  if (phase_ == Phase::idle) close();
}

void Connection::close() {
  if (is_closed_.exchange(true)) return;
  error_code ignored;
  socket_.close(ignored);
  count_body(0);
  const Events events = std::exchange(events_, {});
  if (events.on_closed) events.on_closed();
  host_.forget(this);
}

void Connection::set_time_limit(milliseconds limit) {
  deadline_ = std::chrono::steady_clock::now() + limit;
}

// --- Reading ---

void Connection::read_request() {
  phase_ = Phase::idle;
  set_time_limit(host_.options.idle_timeout);
  cors_lines_.clear();
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(host_.options.max_header_bytes));
  parser_->body_limit(host_.options.max_body_bytes);
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](error_code error, size_t) {
                            if (self->is_open()) self->on_head(error);
                          });
}

void Connection::on_head(error_code error) {
  if (error) return refuse_read(error);
  phase_ = Phase::head;
  const auto& message = parser_->get();
  is_head_request_ = message.method() == http::verb::head;
  is_http_1_0_ = message.version() < 11;
  keeps_alive_ = message.keep_alive() && !host_.is_closing;
  const HttpRequest head = head_of_request(message, peer_);
  cors_lines_ = host_.cors.header_lines(head.header("origin"));
  if (!has_known_end(message)) {
    return refuse_rest(
        host_.handler.describe_error(501, "the transfer encoding is unknown, expected chunked"));
  }
  std::optional<HttpReply> refusal = host_.cors.answer_preflight(head);
  if (!refusal) refusal = host_.handler.check(head);
  if (refusal) {
    lingers_ = !parser_->is_done();
    keeps_alive_ = keeps_alive_ && !lingers_;
    return refuse(std::move(*refusal));
  }
  phase_ = Phase::body;
  set_time_limit(host_.options.body_timeout);
  if (const auto length = parser_->content_length()) count_body(static_cast<size_t>(*length));
  if (host_.bodies_bytes > host_.options.max_bodies_bytes) return refuse_body();
  // HTTP/1.0 knows no interim replies: its clients would take one for the answer.
  if (!is_http_1_0_ && lower(view(message[http::field::expect])) == "100-continue") {
    out_ += "HTTP/1.1 100 Continue\r\n\r\n";
    write_next();
  }
  read_body();
}

void Connection::read_body() {
  if (parser_->is_done()) return handle();
  http::async_read_some(socket_, buffer_, *parser_,
                        [self = shared_from_this()](error_code error, size_t) {
                          if (self->is_open()) self->on_body(error);
                        });
}

void Connection::on_body(error_code error) {
  if (error) return refuse_read(error);
  count_body(std::max(counted_body_, parser_->get().body().size()));
  if (host_.bodies_bytes > host_.options.max_bodies_bytes) return refuse_body();
  read_body();
}

void Connection::count_body(size_t bytes) {
  host_.bodies_bytes += bytes - counted_body_;
  counted_body_ = bytes;
}

void Connection::handle() {
  HttpRequest request = head_of_request(parser_->get(), peer_);
  request.body = std::move(parser_->get().body());
  count_body(0);
  phase_ = Phase::answering;
  deadline_ = Time::max();
  watch();
  host_.handler.handle(std::move(request), shared_from_this());
}

// Tells the client what is wrong with what it sent, if it is still there.
void Connection::refuse_read(error_code error) {
  const bool is_gone = error == http::error::end_of_stream ||
                       error == http::error::partial_message ||
                       error.category() != make_error_code(http::error::end_of_stream).category();
  if (is_gone) return close();
  const int status = status_of(error);
  refuse_rest(host_.handler.describe_error(
      status, status == 413
                  ? fmt::format("the body is larger than {} bytes", host_.options.max_body_bytes)
                  : error.message()));
}

void Connection::refuse_body() {
  refuse_rest(host_.handler.describe_error(503, "the server is reading too many bodies"));
}

// The connection ends with it: what the client still sends is no request.
void Connection::refuse_rest(HttpReply refusal) {
  keeps_alive_ = false;
  lingers_ = true;
  refuse(std::move(refusal));
}

void Connection::refuse(HttpReply refusal) {
  count_body(0);
  phase_ = Phase::answering;
  reply(std::move(refusal));
}

// The client has nothing to say before its answer ends, but may go away.
void Connection::watch() {
  is_watching_ = true;
  socket_.async_read_some(buffer_.prepare(kReadBytes),
                          [self = shared_from_this()](error_code error, size_t bytes) {
                            self->is_watching_ = false;
                            if (self->is_open()) self->on_watched(error, bytes);
                          });
}

void Connection::on_watched(error_code error, size_t bytes) {
  buffer_.commit(bytes);
  // The end of input is told once: a further read would wait in vain.
  if (error && error != asio::error::operation_aborted) return close();
  if (phase_ == Phase::idle) return read_request();  // the answer ended meanwhile
  if (buffer_.size() + kReadBytes > std::min(kMaxPipelinedBytes, buffer_.max_size())) {
    return close();
  }
  watch();
}

// --- Writing ---

std::string Connection::head_of(int status, std::string_view content_type) const {
  const auto reason = http::obsolete_reason(static_cast<http::status>(status));
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {:%a, %d %b %Y %H:%M:%S} GMT\r\n", status,
                                 view(reason), fmt::gmtime(std::time(nullptr)));
  head += cors_lines_;
  if (!content_type.empty()) head += fmt::format("Content-Type: {}\r\n", content_type);
  if (!keeps_alive_) {
    head += "Connection: close\r\n";
  } else if (is_http_1_0_) {
    head += "Connection: keep-alive\r\n";
  }
  return head;
}

void Connection::reply(HttpReply reply) {
  keeps_alive_ = keeps_alive_ && !host_.is_closing;
  out_ += head_of(reply.status, reply.body.empty() ? "" : reply.content_type);
  for (const auto& [name, value] : reply.headers) out_ += fmt::format("{}: {}\r\n", name, value);
  if (reply.status != 204) out_ += fmt::format("Content-Length: {}\r\n", reply.body.size());
  out_ += "\r\n";
  if (!is_head_request_) out_ += reply.body;
  is_ended_ = true;
  write_next();
}

void Connection::begin_stream(std::string_view content_type) {
  is_chunked_ = !is_http_1_0_;
  keeps_alive_ = keeps_alive_ && is_chunked_ && !host_.is_closing;
  out_ += head_of(200, content_type);
  // Reverse proxies would collect the events.
  out_ += "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n";
  if (is_chunked_) out_ += "Transfer-Encoding: chunked\r\n";
  out_ += "\r\n";
}

void Connection::send(std::string_view piece) {
  if (piece.empty()) return;
  if (is_chunked_) {
    out_ += fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
  } else {
    out_ += piece;
  }
  write_next();
}

void Connection::end_stream() {
  if (is_chunked_) out_ += "0\r\n\r\n";
  is_ended_ = true;
  write_next();
}

void Connection::write_next() {
  if (is_writing_ || is_closed_) return;
  if (written_ == writing_.size()) {
    writing_ = std::exchange(out_, {});
    written_ = 0;
  }
  if (writing_.empty()) {
    if (is_ended_) return finish();
    if (phase_ == Phase::answering) deadline_ = Time::max();
    if (events_.on_sent) events_.on_sent();
    return;
  }
  is_writing_ = true;
  if (phase_ == Phase::answering) set_time_limit(host_.options.send_timeout);
  socket_.async_write_some(asio::buffer(writing_.data() + written_, writing_.size() - written_),
                           [self = shared_from_this()](error_code error, size_t bytes) {
                             self->is_writing_ = false;
                             if (self->is_open()) self->on_written(error, bytes);
                           });
}

void Connection::on_written(error_code error, size_t bytes) {
  if (error) return close();
  written_ += bytes;
  write_next();
}

// The answer is out: the next request, or the end.
void Connection::finish() {
  events_ = {};
  is_ended_ = is_chunked_ = false;
  writing_.clear();
  writing_.shrink_to_fit();
  written_ = 0;
  if (lingers_) return linger();
  if (!keeps_alive_ || host_.is_closing) {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    return close();
  }
  phase_ = Phase::idle;
  if (!is_watching_) return read_request();
  error_code ignored;
  socket_.cancel(ignored);  // goes on in on_watched
}

// Closing with bytes unread would reset the connection, and the client might lose the reply.
void Connection::linger() {
  phase_ = Phase::lingering;
  set_time_limit(kLingerTimeout);
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  on_lingered({});
}

void Connection::on_lingered(error_code error) {
  if (error || discarded_ > kMaxDiscardedBytes) return close();
  buffer_.clear();
  socket_.async_read_some(buffer_.prepare(kReadBytes),
                          [self = shared_from_this()](error_code failed, size_t bytes) {
                            self->discarded_ += bytes;
                            if (self->is_open()) self->on_lingered(failed);
                          });
}

}  // namespace arion
