// One conversation with a loaded model: prompts, streamed answers, interruption.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/chat_template.h"
#include "engine/engine.h"
#include "engine/event_queue.h"
#include "runner_setup.h"
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
};

// Used by one thread. Ctrl-C while an answer is made stops that answer.
class ChatSession {
 public:
  // `loaded` must outlive the session. `system` is the system message; empty: what the model's
  // template says without one.
  ChatSession(LoadedModel& loaded, std::string system);

  const Tokenizer& tokenizer() const { return tokenizer_; }
  // Reads the chat template of the model; false where it has none and its family is not known.
  // Throws Error{bad_input} for a template that cannot be used.
  bool has_chat_format();

  // Continues plain text; an empty prompt starts from BOS alone.
  Answer complete(std::string_view prompt, const AnswerOptions& options,
                  const std::function<void(std::string_view)>& on_text);
  // The next turn of the conversation, where there is a chat format. After an Error the
  // conversation is as it was before.
  Answer chat(std::string message, const AnswerOptions& options,
              const std::function<void(std::string_view)>& on_text);

 private:
  struct Message {
    std::string role, content;
  };

  // The messages under another system message; empty: under none.
  static std::vector<Message> with_system(std::vector<Message> messages, std::string system);
  std::vector<TokenId> encode_text(std::string_view prompt) const;
  std::vector<TokenId> encode_chat(const std::vector<Message>& messages) const;
  Answer answer(Request request, const AnswerOptions& options,
                const std::function<void(std::string_view)>& on_text);

  LoadedModel& loaded_;
  Tokenizer tokenizer_;
  std::optional<ChatTemplate> template_;  // once read
  std::vector<Message> messages_;
  Engine engine_;
};

}  // namespace arion::app
