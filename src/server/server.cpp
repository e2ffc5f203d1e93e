#include "server/server.h"

#include <optional>
#include <utility>

namespace arion {
namespace {

// For the last errors to reach their clients.
constexpr std::chrono::milliseconds kFarewell{1'000};

}  // namespace

class Server::Impl final : public HttpHandler {
 public:
  explicit Impl(ServerOptions options)
      : drain_(options.drain),
        http_(options.http, *this),
        service_(std::move(options.service),
                 [this](std::function<void()> task) { http_.post(std::move(task)); }) {}

  HttpServer& http() { return http_; }
  Service& service() { return service_; }

  void drain() {
    const Clock::time_point now = Clock::now();
    if (!abort_at_) {
      abort_at_ = now + drain_;
      service_.set_draining();
      http_.close_listener();
    } else {
      abort_at_ = std::min(*abort_at_, now);
    }
    advance_drain();
  }

  std::optional<HttpReply> check(const HttpRequest& head) override { return service_.check(head); }
  void handle(HttpRequest request, std::shared_ptr<Exchange> exchange) override {
    service_.handle(std::move(request), std::move(exchange));
  }
  HttpReply describe_error(int status, std::string_view message) override {
    return service_.describe_error(status, message);
  }
  void tick() override {
    service_.tick();
    advance_drain();
  }

 private:
  void advance_drain() {
    if (!abort_at_) return;
    if (http_.connections() == 0) return http_.stop();
    if (Clock::now() < *abort_at_) return;
    service_.abort("the server is shutting down");
    if (http_.connections() == 0 || Clock::now() > *abort_at_ + kFarewell) http_.stop();
  }

  std::chrono::milliseconds drain_;
  std::optional<Clock::time_point> abort_at_;  // set: draining
  HttpServer http_;                            // outlives the service, which posts to it
  Service service_;
};

Server::Server(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Server::~Server() = default;

uint16_t Server::port() const {
  return impl_->http().port();
}

std::string Server::address() const {
  return impl_->http().address();
}

void Server::run() {
  impl_->http().run();
}

void Server::set_model(Engine& engine, const ServedModel& model) {
  impl_->http().post([this, &engine, &model] { impl_->service().set_model(engine, model); });
}

void Server::drain_on_signals() {
  impl_->http().post([this] { impl_->http().watch_signals([this](int) { impl_->drain(); }); });
}

void Server::drain() {
  impl_->http().post([this] { impl_->drain(); });
}

void Server::stop() {
  impl_->http().post([this] { impl_->http().stop(); });
}

}  // namespace arion
