// Built-in chat prompts for models whose own template is not interpreted.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace arion {

enum class ChatFormat : uint8_t {
  none,    // the model has no chat markers: plain text only
  chatml,  // <|im_start|>role\n...<|im_end|>\n
  gemma,   // <start_of_turn>role\n...<end_of_turn>\n
};

struct ChatMessage {
  std::string role;  // "system", "user" or "assistant"
  std::string content;
};

struct ChatOptions {
  bool add_generation_prompt = true;  // end with the head of the assistant's turn
  // Put in front when the conversation does not start with a system message.
  std::optional<std::string> default_system;
};

// Chosen by the markers the vocabulary has.
ChatFormat detect_chat_format(const Tokenizer& tokenizer);

// The system message that the model's own template adds when there is none, if it does.
std::optional<std::string> default_system_message(const Tokenizer& tokenizer);

// The prompt in pieces, for Tokenizer::encode with add_special = false: it starts with BOS, once,
// where format or model want it. Throws Error for roles the format does not know, and for
// ChatFormat::none.
std::vector<PromptPiece> render_chat(const Tokenizer& tokenizer, ChatFormat format,
                                     std::span<const ChatMessage> messages,
                                     const ChatOptions& options = {});

}  // namespace arion
