// One turn of a conversation: the prompt in the format of the model, the answer as it streams.
#include "chat_session.h"

#include "base/error.h"
#include "interrupt.h"

namespace arion::app {
namespace {

// The messages under another system message; empty: under none.
std::vector<ChatMessage> with_system(std::vector<ChatMessage> messages, std::string system) {
  if (!messages.empty() && messages.front().role == "system") messages.erase(messages.begin());
  if (!system.empty()) messages.insert(messages.begin(), {"system", std::move(system)});
  return messages;
}

// "... <think>" and perhaps line ends
bool ends_in_reasoning(std::string_view prompt) {
  const size_t last = prompt.find_last_not_of(" \n");
  return last != std::string_view::npos && prompt.substr(0, last + 1).ends_with("<think>");
}

double per_second(size_t tokens, int64_t microseconds) {
  return microseconds > 0 ? static_cast<double>(tokens) * 1e6 / static_cast<double>(microseconds)
                          : 0;
}

}  // namespace

double Answer::prompt_tokens_per_s() const {
  return per_second(prompt_tokens.size() - static_cast<size_t>(summary.cached_tokens),
                    summary.prompt_us);
}

double Answer::decode_tokens_per_s() const {
  return per_second(tokens.empty() ? 0 : tokens.size() - 1, summary.decode_us);
}

ChatSession::ChatSession(LoadedModel& loaded, std::string system)
    : loaded_(loaded),
      text_(read_model_text(loaded.path, loaded.metadata())),
      engine_(*loaded.runner, text_.tokenizer) {
  if (!system.empty()) messages_.push_back({"system", std::move(system)});
}

bool ChatSession::has_chat_format() {
  if (!template_) template_ = make_chat_template(text_);
  return template_.has_value();
}

std::vector<TokenId> ChatSession::encode_text(std::string_view prompt) const {
  std::vector<TokenId> tokens = text_.tokenizer.encode(prompt);
  if (tokens.empty()) {
    const auto bos = text_.tokenizer.special().bos;
    if (!bos) fail(ErrorCode::usage, "the prompt is empty and the model has no BOS token");
    tokens.push_back(*bos);
  }
  return tokens;
}

jinja::Text ChatSession::render(const std::vector<ChatMessage>& messages,
                                const PromptOptions& options) const {
  Conversation conversation;
  for (const ChatMessage& turn : messages) conversation.add_message(turn.role, turn.content);
  return template_->render(conversation, options);
}

Answer ChatSession::complete(std::string_view prompt, const AnswerOptions& options,
                             const OnText& on_text) {
  Request request{.tokens = encode_text(prompt)};
  if (options.guidance_scale != 1) {
    request.guidance = {encode_text(options.negative_prompt), options.guidance_scale};
  }
  return answer(std::move(request), options, on_text);
}

Answer ChatSession::chat(std::string message, const AnswerOptions& options, const OnText& on_text) {
  std::vector<ChatMessage> messages = messages_;
  messages.push_back({"user", std::move(message)});
  return ask(std::move(messages), options, on_text);
}

Answer ChatSession::regenerate(const AnswerOptions& options, const OnText& on_text) {
  std::vector<ChatMessage> messages = messages_;
  if (messages.empty() || messages.back().role != "assistant") {
    fail(ErrorCode::usage, "there is no answer yet");
  }
  messages.pop_back();
  return ask(std::move(messages), options, on_text);
}

Answer ChatSession::ask(std::vector<ChatMessage> messages, const AnswerOptions& options,
                        const OnText& on_text) {
  if (!has_chat_format()) fail(ErrorCode::usage, "the model has no known chat format");
  const jinja::Text prompt = render(messages, {});
  starts_in_reasoning_ = ends_in_reasoning(prompt.bytes());
  Request request{.tokens = encode_prompt(text_.tokenizer, prompt)};
  if (options.guidance_scale != 1) {
    const jinja::Text negative = render(with_system(messages, options.negative_prompt), {});
    request.guidance = {encode_prompt(text_.tokenizer, negative), options.guidance_scale};
  }
  Answer result = answer(std::move(request), options, on_text);
  messages.push_back({"assistant", result.text});
  messages_ = std::move(messages);
  return result;
}

void ChatSession::set_system(std::string system) {
  messages_ = with_system(std::move(messages_), std::move(system));
}

void ChatSession::clear() {
  std::erase_if(messages_, [](const ChatMessage& message) { return message.role != "system"; });
}

size_t ChatSession::count_tokens() {
  if (messages_.empty() || !has_chat_format()) return 0;
  return encode_prompt(text_.tokenizer, render(messages_, {.add_generation_prompt = false})).size();
}

Answer ChatSession::answer(Request request, const AnswerOptions& options, const OnText& on_text) {
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
    if (InterruptGuard::is_raised() && !is_cancelled) {
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
