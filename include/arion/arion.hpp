// A thin C++17 wrapper over arion.h: handles that close themselves, exceptions, typed parameters.
//
//   arion::client::Engine engine("model.gguf");
//   std::cout << engine.generate("Once upon a time").front().text;
//   for (const auto& event : engine.start_chat({{"user", "Hi"}})) std::cout << event.text;
//
// Threads are those of arion.h: an engine is for all, a request for one, but for cancel.
#ifndef ARION_ARION_HPP
#define ARION_ARION_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arion/arion.h"
#include "arion/error.hpp"
#include "arion/json_writer.hpp"

namespace arion::client {

// How answers are chosen; what is left out is as the model recommends, or neutral.
struct SamplingParams {
  int n = 1;                               // answers to each prompt
  int max_tokens = 16;                     // of an answer
  std::optional<double> temperature = {};  // 0: always the best token
  std::optional<double> top_p = {}, min_p = {}, typical_p = {}, top_n_sigma = {};
  std::optional<int> top_k = {};
  std::optional<double> presence_penalty = {}, frequency_penalty = {}, repetition_penalty = {};
  std::optional<uint64_t> seed = {};
  std::vector<std::string> stop = {};
  std::vector<int32_t> stop_token_ids = {};
  std::vector<std::string> bad_words = {};
  std::map<int32_t, double> logit_bias = {};
  std::optional<int> min_tokens = {};
  std::optional<int> logprobs = {};         // of each token, with so many rivals
  std::optional<int> prompt_logprobs = {};  // of each prompt token but the first
  bool ignore_eos = false, include_stop_str_in_output = false, skip_special_tokens = true;
  // Further fields of a request, each a value in JSON: {{"xtc_probability", "0.5"}}.
  std::map<std::string, std::string> others = {};

  void write(JsonWriter& json, bool is_chat) const {
    json.add("n", n);
    json.add("max_tokens", max_tokens);
    json.add("temperature", temperature);
    json.add("top_p", top_p);
    json.add("min_p", min_p);
    json.add("typical_p", typical_p);
    json.add("top_n_sigma", top_n_sigma);
    json.add("top_k", top_k);
    json.add("presence_penalty", presence_penalty);
    json.add("frequency_penalty", frequency_penalty);
    json.add("repetition_penalty", repetition_penalty);
    json.add("seed", seed);
    json.add("stop", stop);
    json.add("stop_token_ids", stop_token_ids);
    json.add("bad_words", bad_words);
    if (!logit_bias.empty()) {
      JsonWriter biases;
      for (const auto& [token, bias] : logit_bias) biases.add(std::to_string(token), bias);
      json.raw("logit_bias", std::move(biases).finish());
    }
    json.add("min_tokens", min_tokens);
    json.add("prompt_logprobs", prompt_logprobs);
    json.add("ignore_eos", ignore_eos);
    json.add("include_stop_str_in_output", include_stop_str_in_output);
    json.add("skip_special_tokens", skip_special_tokens);
    if (is_chat && logprobs) json.add("logprobs", true);
    json.add(is_chat ? "top_logprobs" : "logprobs", logprobs);
    for (const auto& [name, value] : others) json.raw(name, value);
  }
};

// As arion_engine_options; what is 0 or empty has its default.
struct EngineOptions {
  int threads = 0, context = 0, max_sequences = 0, step_tokens = 0;
  bool forgets_prefixes = false;
  int max_queue = 0;
  int64_t max_queue_tokens = 0, target_step_us = 0;
  double decode_slowdown = 0;
  std::string isa = {}, activations = {}, kv = {}, scheduling = {}, name = {}, compiled = {};
  // Bytes of weights done, and of all; false ends loading.
  std::function<bool(uint64_t done, uint64_t total)> progress = {};
};

struct Message {
  std::string role, content;
};

struct TokenLogprob {
  int32_t token = 0;
  float logprob = 0;
};

struct Logprobs {
  TokenLogprob chosen;
  int rank = 0;  // 1 is the most probable token
  std::vector<TokenLogprob> top;
};

enum class Finish { none, stop, length, cancelled, error };

// What is new of one choice.
struct Event {
  size_t choice = 0;  // prompt * n + number of the answer to it
  std::string text;   // whole characters
  std::vector<int32_t> tokens;
  std::vector<Logprobs> logprobs, prompt_logprobs;
  uint64_t seed = 0;
  // In the last event of a choice.
  Finish finish = Finish::none;
  std::optional<std::string> stop_string;
  std::optional<int32_t> stop_token;
  std::string error;
  int64_t prompt_tokens = 0, cached_tokens = 0, completion_tokens = 0;
};

// A whole answer.
using Answer = Event;

// Requests in progress. Movable; cancels at its end what has not ended.
class Request {
 public:
  explicit Request(arion_request* handle) : handle_(handle) {}

  // The next event of any choice; nothing behind the last one.
  std::optional<Event> next() { return to_event(wait(-1)); }
  // The same with a time-out: `event` is empty if none came.
  enum class Wait { event, timed_out, ended };
  Wait next_for(std::chrono::milliseconds timeout, Event& event) {
    const arion_event* got = nullptr;
    const int status = check(arion_request_next(handle_.get(), timeout.count(), &got));
    event = to_event(got).value_or(Event());
    if (status == ARION_TIMED_OUT) return Wait::timed_out;
    return status == ARION_ENDED ? Wait::ended : Wait::event;
  }
  void cancel() { check(arion_request_cancel(handle_.get())); }

  std::vector<int32_t> prompt_tokens(size_t prompt = 0) const {
    const int32_t* tokens = nullptr;
    size_t count = 0;
    check(arion_request_prompt(handle_.get(), prompt, &tokens, &count));
    return {tokens, tokens + count};
  }
  size_t choices() const {
    size_t prompts = 0, n = 0;
    check(arion_request_size(handle_.get(), &prompts, &n));
    return prompts * n;
  }

  // Waits for all choices; answers that have not begun are whole in it, the others from here on.
  // Throws Error if one ends in an error.
  std::vector<Answer> finish() {
    return finish([](const Event&) { return true; });
  }
  // The same, showing each event as it comes; false cancels the request.
  std::vector<Answer> finish(const std::function<bool(const Event&)>& on_event) {
    std::vector<Answer> answers(choices());
    while (std::optional<Event> event = next()) {
      if (event->finish == Finish::error) throw Error(ARION_FAILED, event->error);
      if (!on_event(*event)) cancel();
      append(answers[event->choice], std::move(*event));
    }
    return answers;
  }

  // for (const Event& event : request)
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Event;
    using difference_type = std::ptrdiff_t;
    using pointer = const Event*;
    using reference = const Event&;

    Iterator() = default;
    explicit Iterator(Request& request) : request_(&request) { ++*this; }
    reference operator*() const { return *event_; }
    pointer operator->() const { return &*event_; }
    Iterator& operator++() {
      event_ = request_->next();
      if (!event_) request_ = nullptr;
      return *this;
    }
    bool operator==(const Iterator& other) const { return request_ == other.request_; }
    bool operator!=(const Iterator& other) const { return request_ != other.request_; }

   private:
    Request* request_ = nullptr;
    std::optional<Event> event_;
  };
  Iterator begin() { return Iterator(*this); }
  Iterator end() { return {}; }

 private:
  struct Free {
    void operator()(arion_request* handle) const { arion_request_free(handle); }
  };

  const arion_event* wait(int64_t timeout_ms) {
    const arion_event* event = nullptr;
    check(arion_request_next(handle_.get(), timeout_ms, &event));
    return event;
  }

  static std::vector<Logprobs> to_logprobs(const arion_logprobs* entries, size_t count) {
    std::vector<Logprobs> out;
    out.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const arion_logprobs& entry = entries[i];
      Logprobs logprobs{{entry.chosen.token, entry.chosen.logprob}, entry.rank, {}};
      for (size_t j = 0; j < entry.top_count; ++j) {
        logprobs.top.push_back({entry.top[j].token, entry.top[j].logprob});
      }
      out.push_back(std::move(logprobs));
    }
    return out;
  }

  static std::optional<Event> to_event(const arion_event* event) {
    if (event == nullptr) return std::nullopt;
    Event out;
    out.choice = event->choice;
    out.text.assign(event->text, event->text_len);
    out.tokens.assign(event->tokens, event->tokens + event->token_count);
    out.logprobs = to_logprobs(event->logprobs, event->logprob_count);
    out.prompt_logprobs = to_logprobs(event->prompt_logprobs, event->prompt_logprob_count);
    out.seed = event->seed;
    out.finish = static_cast<Finish>(event->finish);
    if (event->stop_string != nullptr) {
      out.stop_string.emplace(event->stop_string, event->stop_string_len);
    }
    if (event->stop_token >= 0) out.stop_token = event->stop_token;
    if (event->error != nullptr) out.error.assign(event->error, event->error_len);
    out.prompt_tokens = event->prompt_tokens;
    out.cached_tokens = event->cached_tokens;
    out.completion_tokens = event->completion_tokens;
    return out;
  }

  // `answer` grows by `event` and ends as it does.
  static void append(Answer& answer, Event&& event) {
    std::string text = std::move(answer.text) + event.text;
    const auto join = [](auto first, const auto& second) {
      first.insert(first.end(), second.begin(), second.end());
      return first;
    };
    auto tokens = join(std::move(answer.tokens), event.tokens);
    auto logprobs = join(std::move(answer.logprobs), event.logprobs);
    auto prompt_logprobs = join(std::move(answer.prompt_logprobs), event.prompt_logprobs);
    answer = std::move(event);
    answer.text = std::move(text);
    answer.tokens = std::move(tokens);
    answer.logprobs = std::move(logprobs);
    answer.prompt_logprobs = std::move(prompt_logprobs);
  }

  std::unique_ptr<arion_request, Free> handle_;
};

// A loaded model. Movable; closes at its end.
class Engine {
 public:
  explicit Engine(const std::string& model, const EngineOptions& options = {}) {
    arion_engine_options c{};
    c.size = sizeof c;
    c.threads = options.threads;
    c.context = options.context;
    c.max_sequences = options.max_sequences;
    c.step_tokens = options.step_tokens;
    c.target_step_us = options.target_step_us;
    c.decode_slowdown = options.decode_slowdown;
    c.forgets_prefixes = options.forgets_prefixes ? 1 : 0;
    c.max_queue = options.max_queue;
    c.max_queue_tokens = options.max_queue_tokens;
    const auto text = [](const std::string& value) {
      return value.empty() ? nullptr : value.c_str();
    };
    c.isa = text(options.isa);
    c.activations = text(options.activations);
    c.kv = text(options.kv);
    c.scheduling = text(options.scheduling);
    c.name = text(options.name);
    c.compiled = text(options.compiled);
    Progress progress{options.progress, nullptr};
    if (options.progress) c.progress = &Progress::call;
    c.progress_data = &progress;
    arion_engine* handle = nullptr;
    const int status = arion_engine_open(model.c_str(), &c, &handle);
    if (progress.error) std::rethrow_exception(progress.error);
    check(status);
    handle_.reset(handle);
  }

  // A text to be continued as it is; or tokens; or messages that become a prompt by the model's
  // template.
  Request start(std::string_view prompt, const SamplingParams& params = {}) {
    JsonWriter json;
    json.add("prompt", prompt);
    return start(ARION_COMPLETION, std::move(json), params);
  }
  Request start(const std::vector<int32_t>& prompt, const SamplingParams& params = {}) {
    JsonWriter json;
    json.raw("prompt", JsonWriter::list_of(prompt));
    return start(ARION_COMPLETION, std::move(json), params);
  }
  Request start_chat(const std::vector<Message>& messages, const SamplingParams& params = {}) {
    JsonWriter json;
    json.raw("messages", list_of(messages));
    return start(ARION_CHAT, std::move(json), params);
  }
  // A body as `arion serve` takes it.
  Request start_json(int kind, std::string_view json) {
    arion_request* request = nullptr;
    check(arion_request_start(handle_.get(), kind, json.data(), json.size(), &request));
    return Request(request);
  }

  // The same, waiting for the n answers.
  std::vector<Answer> generate(std::string_view prompt, const SamplingParams& params = {}) {
    return start(prompt, params).finish();
  }
  std::vector<Answer> chat(const std::vector<Message>& messages,
                           const SamplingParams& params = {}) {
    return start_chat(messages, params).finish();
  }

  // `flags`: ARION_NO_SPECIAL, ARION_PLAIN_TEXT.
  std::vector<int32_t> tokenize(std::string_view text, int flags = 0) const {
    int32_t* tokens = nullptr;
    size_t count = 0;
    check(arion_tokenize(handle_.get(), text.data() == nullptr ? "" : text.data(), text.size(),
                         flags, &tokens, &count));
    const Owned<int32_t> owner(tokens);
    return {tokens, tokens + count};
  }
  // `flags`: ARION_SHOW_CONTROL, ARION_CONTINUES.
  std::string detokenize(const std::vector<int32_t>& tokens, int flags = 0) const {
    static constexpr int32_t kNone = 0;
    char* text = nullptr;
    size_t size = 0;
    check(arion_detokenize(handle_.get(), tokens.empty() ? &kNone : tokens.data(), tokens.size(),
                           flags, &text, &size));
    const Owned<char> owner(text);
    return {text, size};
  }
  std::string render_chat(const std::vector<Message>& messages) const {
    JsonWriter json;
    json.raw("messages", list_of(messages));
    const std::string body = std::move(json).finish();
    char* text = nullptr;
    size_t size = 0;
    check(
        arion_render_chat(handle_.get(), body.data(), body.size(), &text, &size, nullptr, nullptr));
    const Owned<char> owner(text);
    return {text, size};
  }
  // JSON objects, see arion_engine_info and arion_engine_stats.
  std::string info() const { return describe(&arion_engine_info); }
  std::string stats() const { return describe(&arion_engine_stats); }

 private:
  struct Close {
    void operator()(arion_engine* handle) const { arion_engine_close(handle); }
  };
  struct Give {
    void operator()(void* memory) const { arion_free(memory); }
  };
  template <typename T>
  using Owned = std::unique_ptr<T, Give>;

  // What the user's function throws waits until the C function is left.
  struct Progress {
    const std::function<bool(uint64_t, uint64_t)>& function;
    std::exception_ptr error;

    static int call(void* data, uint64_t done, uint64_t total) {
      auto& self = *static_cast<Progress*>(data);
      try {
        return self.function(done, total) ? 0 : 1;
      } catch (...) {
        self.error = std::current_exception();
        return 1;
      }
    }
  };

  static std::string list_of(const std::vector<Message>& messages) {
    std::string list = "[";
    for (const Message& message : messages) {
      JsonWriter json;
      json.add("role", message.role);
      json.add("content", message.content);
      if (list.size() > 1) list += ',';
      list += std::move(json).finish();
    }
    return list + "]";
  }

  Request start(int kind, JsonWriter json, const SamplingParams& params) {
    params.write(json, kind == ARION_CHAT);
    return start_json(kind, std::move(json).finish());
  }

  std::string describe(int (*function)(arion_engine*, char**, size_t*)) const {
    char* json = nullptr;
    size_t size = 0;
    check(function(handle_.get(), &json, &size));
    const Owned<char> owner(json);
    return {json, size};
  }

  std::unique_ptr<arion_engine, Close> handle_;
};

}  // namespace arion::client

#endif  // ARION_ARION_HPP
