// The routes of the API: who may call them, and what they answer.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/event_mailbox.h"
#include "server/generation.h"
#include "server/http/http_message.h"
#include "server/task_thread.h"

namespace arion {

struct ServiceOptions {
  std::vector<std::string> api_keys;             // empty: everybody may ask
  std::chrono::milliseconds keep_alive{15'000};  // of silent streams; 0: none
  std::chrono::milliseconds request_timeout{0};  // of whole answers; 0: none
};

// Of the I/O thread; bodies are read, rendered and tokenised by a thread of its own, so that a long
// prompt holds up nobody's stream.
class Service final : public HttpHandler {
 public:
  // `post` runs a task on the I/O thread; thread-safe.
  using Post = std::function<void(std::function<void()>)>;
  Service(ServiceOptions options, Post post);
  ~Service() override;

  // Until then most requests are refused with 503. Both must outlive the service.
  void set_model(Engine& engine, const ServedModel& model);

  std::optional<HttpReply> check(const HttpRequest& head) override;
  void handle(HttpRequest request, std::shared_ptr<Exchange> exchange) override;
  HttpReply describe_error(int status, std::string_view message) override;
  void tick() override;

  // No more answers from now on; those in progress go on.
  void set_draining() { is_draining_ = true; }
  // Ends the answers in progress with an error.
  void abort(const std::string& reason);

 private:
  struct Route;
  struct Job;
  struct Serving;
  static const Route* find_route(std::string_view path);

  bool is_authorized(const HttpRequest& head) const;
  void generate(HttpRequest request, std::shared_ptr<Exchange> exchange, Dialect dialect);
  void start(Job& job);
  void prepare(HttpRequest request, std::shared_ptr<Exchange> exchange,
               HttpReply (Service::*answer)(const HttpRequest&) const);
  void deliver();
  std::string client_of(const HttpRequest& request) const;
  int retry_seconds() const;
  HttpReply refuse_loading() const;

  HttpReply answer_health(const HttpRequest&) const;
  HttpReply answer_ready(const HttpRequest&) const;
  HttpReply answer_version(const HttpRequest&) const;
  HttpReply answer_metrics(const HttpRequest&) const;
  HttpReply answer_models(const HttpRequest& request) const;
  HttpReply answer_tokenizer_info(const HttpRequest&) const;
  HttpReply answer_tokenize(const HttpRequest& request) const;
  HttpReply answer_detokenize(const HttpRequest& request) const;

  ServiceOptions options_;
  Post post_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::unique_ptr<Serving> serving_;  // null: the model is being loaded
  std::vector<TimedEvent> events_;    // of the batch at hand
  bool is_draining_ = false;
  TaskThread preparer_;  // last: ends before what its tasks use
};

}  // namespace arion
