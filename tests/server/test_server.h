// A server of a runner without a model, on a port of its own.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "engine/answers.h"
#include "server/http_client.h"
#include "server/server.h"

namespace arion::test {

inline constexpr const char* kChatTemplate =
    "{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}"
    "{% if add_generation_prompt %}A{% endif %}";

// Time-outs as tests want them.
inline ServerOptions quick_options() {
  ServerOptions options;
  options.http.port = 0;
  options.http.tick = std::chrono::milliseconds(10);
  options.drain = std::chrono::milliseconds(10'000);
  return options;
}

// A word that never ends: one letter after the other.
inline FakeOptions endless_fixture() {
  return {.context = 100'000,
          .blocks = 20'000,
          .model = [](std::span<const TokenId> visible, std::span<float> logits) {
            std::fill(logits.begin(), logits.end(), 0.0f);
            const TokenId last = visible.back();
            logits[static_cast<size_t>(last >= 'a' && last < 'z' ? last + 1 : 'a')] = 20;
          }};
}

enum class Loading : uint8_t { done, going_on };

class TestServer {
 public:
  explicit TestServer(FakeOptions fake = stop_fixture(), ServerOptions options = quick_options(),
                      EngineOptions engine = {.checks_integrity = true},
                      Loading loading = Loading::done)
      : runner_(std::move(fake)),
        engine_(std::in_place, runner_, tokenizer_, engine),
        template_({.standard = kChatTemplate}, special_texts(tokenizer_)),
        model_{.names = {"tiny", "other"},
               .tokenizer = tokenizer_,
               .chat_template = &template_,
               .context_tokens = engine_->context_tokens(),
               .vocab = tokenizer_.size()},
        server_(std::in_place, options),
        thread_([this] { server_->run(); }) {
    if (loading == Loading::done) finish_loading();
  }

  ~TestServer() {
    server_->drain();
    server_->drain();
    wait();
    server_.reset();
  }

  uint16_t port() const { return server_->port(); }
  FakeRunner& runner() { return runner_; }
  void finish_loading() { server_->set_model(*engine_, model_); }
  void drain() { server_->drain(); }
  // Until it has drained.
  void wait() {
    if (thread_.joinable()) thread_.join();
  }

  Response post(std::string_view path, std::string_view body, std::string_view headers = "") {
    return post_once(port(), path, body, headers);
  }
  Response complete(std::string_view body) { return post("/v1/completions", body); }
  Response get(std::string_view path, std::string_view headers = "") {
    HttpClient client(port());
    return client.get(path, headers);
  }
  // Whether an ordinary request gets its answer.
  bool is_alive() {
    const Response response = complete(R"({"prompt":"A","max_tokens":1,"temperature":0})");
    return response.status == 200 && response.json()["choices"][0]["text"].is_string();
  }

 private:
  Tokenizer tokenizer_ = byte_tokenizer();
  FakeRunner runner_;
  std::optional<Engine> engine_;
  ChatTemplate template_;
  ServedModel model_;
  std::optional<Server> server_;
  std::thread thread_;
};

}  // namespace arion::test
