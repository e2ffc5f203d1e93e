#include "server/http/http_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "server/http/connection.h"

namespace arion {
namespace {

// Between attempts to accept when the process has no file left.
constexpr std::chrono::milliseconds kAcceptPause{100};

tcp::endpoint resolve(asio::io_context& io, const HttpOptions& options) {
  tcp::resolver resolver(io);
  error_code error;
  const auto found =
      resolver.resolve(options.host, std::to_string(options.port),
                       tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty()) {
    fail(ErrorCode::usage, "cannot listen on '{}': {}", options.host, error.message());
  }
  return found.begin()->endpoint();
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const HttpOptions& options, HttpHandler& handler)
      : options_(options),
        host_{options_, handler, CorsPolicy(options.cors_origins)},
        acceptor_(io_),
        signals_(io_),
        tick_(io_),
        pause_(io_) {
    host_.forget = [this](const Connection* connection) { connections_.erase(connection); };
    listen();
  }

  uint16_t port() const { return endpoint_.port(); }

  std::string address() const {
    const std::string host = endpoint_.address().to_string();
    const bool is_v6 = endpoint_.address().is_v6();
    return is_v6 ? fmt::format("[{}]:{}", host, port()) : fmt::format("{}:{}", host, port());
  }

  void run() {
    accept();
    wait_tick();
    io_.run();
    close_connections();
  }

  void post(std::function<void()> task) { asio::post(io_, std::move(task)); }

  void watch_signals(std::function<void(int)> on_signal) {
    on_signal_ = std::move(on_signal);
    signals_.add(SIGTERM);
    signals_.add(SIGINT);
    wait_signal();
  }

  void close_listener() {
    host_.is_closing = true;
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    for (const auto& connection : all_connections()) connection->close_when_idle();
  }

  size_t connections() const { return connections_.size(); }

  void stop() { io_.stop(); }

 private:
  void listen() {
    const tcp::endpoint endpoint = resolve(io_, options_);
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      fail(ErrorCode::failed, "cannot listen on {}:{}: {}", options_.host, options_.port,
           error.message());
    }
    endpoint_ = acceptor_.local_endpoint();
  }

  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) return accept_later();
      add(std::move(socket));
      accept();
    });
  }

  void accept_later() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](error_code error) {
      if (!error && acceptor_.is_open()) accept();
    });
  }

  void add(tcp::socket socket) {
    const auto connection = std::make_shared<Connection>(std::move(socket), host_);
    const bool is_full = connections_.size() >= options_.max_connections;
    // Those who are refused hold a connection for a moment as well.
    if (connections_.size() >= 2 * options_.max_connections) return connection->close();
    connections_.emplace(connection.get(), connection);
    is_full ? connection->start_refusing() : connection->start();
  }

  // Closing one takes it out of the map.
  std::vector<std::shared_ptr<Connection>> all_connections() const {
    std::vector<std::shared_ptr<Connection>> all;
    for (const auto& [key, connection] : connections_) all.push_back(connection);
    return all;
  }

  void close_connections() {
    for (const auto& connection : all_connections()) connection->close();
  }

  void wait_tick() {
    tick_.expires_after(options_.tick);
    tick_.async_wait([this](error_code error) {
      if (error) return;
      const auto now = std::chrono::steady_clock::now();
      for (const auto& connection : all_connections()) connection->check_time(now);
      host_.handler.tick();
      wait_tick();
    });
  }

  void wait_signal() {
    signals_.async_wait([this](error_code error, int signal) {
      if (error) return;
      on_signal_(signal);
      wait_signal();
    });
  }

  HttpOptions options_;
  asio::io_context io_{1};  // of one thread
  ConnectionHost host_;
  tcp::acceptor acceptor_;
  tcp::endpoint endpoint_;
  asio::signal_set signals_;
  asio::steady_timer tick_, pause_;
  std::function<void(int)> on_signal_;
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> connections_;
};

HttpServer::HttpServer(const HttpOptions& options, HttpHandler& handler)
    : impl_(std::make_unique<Impl>(options, handler)) {}

HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const {
  return impl_->port();
}

std::string HttpServer::address() const {
  return impl_->address();
}

void HttpServer::run() {
  impl_->run();
}

void HttpServer::post(std::function<void()> task) {
  impl_->post(std::move(task));
}

void HttpServer::watch_signals(std::function<void(int)> on_signal) {
  impl_->watch_signals(std::move(on_signal));
}

void HttpServer::close_listener() {
  impl_->close_listener();
}

size_t HttpServer::connections() const {
  return impl_->connections();
}

void HttpServer::stop() {
  impl_->stop();
}

}  // namespace arion
