// One turn of a conversation: the prompt in the format of the model, the answer as it streams.
#include "chat_session.h"

#include <atomic>
#include <csignal>

#include "base/error.h"
#include "chat_source.h"
#include "model/vocabulary_loader.h"

namespace arion::app {
namespace {

std::atomic<bool> is_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler sets it

// Turns Ctrl-C into a flag while it lives.
class InterruptGuard {
 public:
  InterruptGuard() {
    is_interrupted = false;
    struct sigaction action = {};
    action.sa_handler = [](int) { is_interrupted = true; };
    sigaction(SIGINT, &action, &before_);
  }
  ~InterruptGuard() { sigaction(SIGINT, &before_, nullptr); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_ = {};
};

}  // namespace

ChatSession::ChatSession(LoadedModel& loaded, std::string system)
    : loaded_(loaded),
      tokenizer_(load_vocabulary(loaded.runner->model().file.metadata())),
      engine_(*loaded.runner, tokenizer_) {
  if (!system.empty()) messages_.push_back({"system", std::move(system)});
}

bool ChatSession::has_chat_format() {
  if (!template_) {
    template_ = load_chat_template(loaded_.runner->model().file.metadata(), tokenizer_);
  }
  return template_.has_value();
}

std::vector<TokenId> ChatSession::encode_text(std::string_view prompt) const {
  std::vector<TokenId> tokens = tokenizer_.encode(prompt);
  if (tokens.empty()) {
    const auto bos = tokenizer_.special().bos;
    if (!bos) fail(ErrorCode::usage, "the prompt is empty and the model has no BOS token");
    tokens.push_back(*bos);
  }
  return tokens;
}

std::vector<TokenId> ChatSession::encode_chat(const std::vector<Message>& messages) const {
  Conversation conversation;
  for (const Message& turn : messages) conversation.add_message(turn.role, turn.content);
  return encode_prompt(tokenizer_, template_->render(conversation));
}

std::vector<ChatSession::Message> ChatSession::with_system(std::vector<Message> messages,
                                                           std::string system) {
  if (messages.front().role == "system") messages.erase(messages.begin());
  if (!system.empty()) messages.insert(messages.begin(), {"system", std::move(system)});
  return messages;
}

Answer ChatSession::complete(std::string_view prompt, const AnswerOptions& options,
                             const std::function<void(std::string_view)>& on_text) {
  Request request{.tokens = encode_text(prompt)};
  if (options.guidance_scale != 1) {
    request.guidance = {encode_text(options.negative_prompt), options.guidance_scale};
  }
  return answer(std::move(request), options, on_text);
}

Answer ChatSession::chat(std::string message, const AnswerOptions& options,
                         const std::function<void(std::string_view)>& on_text) {
  if (!has_chat_format()) fail(ErrorCode::usage, "the model has no known chat format");
  std::vector<Message> messages = messages_;
  messages.push_back({"user", std::move(message)});
  Request request{.tokens = encode_chat(messages)};
  if (options.guidance_scale != 1) {
    const auto negative = with_system(messages, options.negative_prompt);
    request.guidance = {encode_chat(negative), options.guidance_scale};
  }
  Answer result = answer(std::move(request), options, on_text);
  messages.push_back({"assistant", result.text});
  messages_ = std::move(messages);
  return result;
}

Answer ChatSession::answer(Request request, const AnswerOptions& options,
                           const std::function<void(std::string_view)>& on_text) {
  using namespace std::chrono_literals;
  Answer result{.prompt_tokens = request.tokens};
  request.min_tokens = options.min_tokens;
  request.sampling = options.sampling;
  request.stop_strings = options.stop_strings;
  request.stop_ids = options.stop_ids;
  request.ignores_end = options.ignores_end;
  request.shows_control = options.shows_control;
  if (options.max_tokens >= 0) request.max_tokens = options.max_tokens;

  const InterruptGuard guard;
  EventQueue events;
  const RequestId id = engine_.submit(std::move(request), events.sink());
  Utf8Assembler characters;
  bool is_cancelled = false;
  while (result.finish == FinishReason::none) {
    if (is_interrupted && !is_cancelled) {
      engine_.cancel(id);
      is_cancelled = true;
    }
    std::optional<TokenEvent> event = events.pop(50ms);
    if (!event) continue;
    std::string text;
    characters.push(event->text, text);
    if (event->finish != FinishReason::none) characters.finish(text);
    if (on_text && !text.empty()) on_text(text);
    result.text += text;
    result.tokens.insert(result.tokens.end(), event->tokens.begin(), event->tokens.end());
    for (TokenLogprobs& logprobs : event->logprobs) result.logprobs.push_back(std::move(logprobs));
    result.finish = event->finish;
    result.summary = event->summary;
    if (event->finish == FinishReason::error) throw Error(event->error_code, event->error);
  }
  return result;
}

}  // namespace arion::app
