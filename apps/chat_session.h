// One conversation with a loaded model: prompts, streamed answers, interruption.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/model_text.h"
#include "chat/chat_template.h"
#include "engine/engine.h"
#include "engine/event_queue.h"
#include "load_options.h"
#include "text/tokenizer.h"

namespace arion::app {

// How answers are made; the prompt's tokens are filled in per turn.
struct AnswerOptions {
  SamplingParams sampling;
  // Guidance away from the answer there would be under this system message (to plain text: after
  // this prompt). No effect at scale 1; other scales need a KV cache for two contexts.
  std::string negative_prompt;
  float guidance_scale = 1;
  int max_tokens = -1;  // -1: until the model stops or the context ends
  std::vector<std::string> stop_strings;
  std::vector<TokenId> stop_ids;
  int min_tokens = 0;
  bool ignores_end = false;
  bool shows_control = false;
};

struct Answer {
  std::vector<TokenId> prompt_tokens, tokens;
  std::string text;
  std::vector<TokenLogprobs> logprobs;
  FinishReason finish = FinishReason::none;
  RequestSummary summary;

  // 0 where no time passed. Of the prompt what was computed, without what was known from before.
  // The first token comes out of the prompt's last step.
  double prompt_tokens_per_s() const;
  double decode_tokens_per_s() const;
};

struct ChatMessage {
  std::string role, content;
};

// Used by one thread. Ctrl-C while an answer is made stops that answer.
class ChatSession {
 public:
  using OnText = std::function<void(std::string_view)>;

  // `loaded` must outlive the session. `system` is the system message; empty: what the model's
  // template says without one.
  ChatSession(LoadedModel& loaded, std::string system);

  const Tokenizer& tokenizer() const { return text_.tokenizer; }
  const GgufMetadata& metadata() const { return loaded_.metadata(); }
  // Reads the chat template of the model; false where it has none and its family is not known.
  // Throws Error{bad_input} for a template that cannot be used.
  bool has_chat_format();

  // Continues plain text; an empty prompt starts from BOS alone.
  Answer complete(std::string_view prompt, const AnswerOptions& options, const OnText& on_text);
  // The next turn of the conversation, where there is a chat format. After an Error the
  // conversation is as it was before.
  Answer chat(std::string message, const AnswerOptions& options, const OnText& on_text);
  // Another answer instead of the last one. Throws Error{usage} when there is none.
  Answer regenerate(const AnswerOptions& options, const OnText& on_text);

  // A system message in front, if there is one, then turns of user and assistant.
  const std::vector<ChatMessage>& messages() const { return messages_; }
  // Empty: none. The turns stay.
  void set_system(std::string system);
  // Forgets the turns.
  void clear();
  // What the conversation so far takes of the context.
  size_t count_tokens();
  int context_tokens() const { return engine_.context_tokens(); }
  // Whether the prompt of the last answer began the reasoning, so that the answer is within it.
  bool starts_in_reasoning() const { return starts_in_reasoning_; }

 private:
  std::vector<TokenId> encode_text(std::string_view prompt) const;
  jinja::Text render(const std::vector<ChatMessage>& messages, const PromptOptions& options) const;
  Answer ask(std::vector<ChatMessage> messages, const AnswerOptions& options,
             const OnText& on_text);
  Answer answer(Request request, const AnswerOptions& options, const OnText& on_text);

  LoadedModel& loaded_;
  const ModelText text_;
  std::optional<ChatTemplate> template_;  // once read
  std::vector<ChatMessage> messages_;
  bool starts_in_reasoning_ = false;
  Engine engine_;
};

}  // namespace arion::app
