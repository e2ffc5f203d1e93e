// ChatML and Gemma prompts, byte for byte as the models' own templates make them.
#include "text/chat_prompt.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "text/unicode.h"

namespace arion {
namespace {

class PromptBuilder {
 public:
  void markup(std::string_view text) { add(text, true); }
  void content(std::string_view text) { add(text, false); }
  std::vector<PromptPiece> take() { return std::move(pieces_); }

 private:
  void add(std::string_view text, bool is_template) {
    if (text.empty()) return;
    if (!pieces_.empty() && pieces_.back().is_template == is_template) {
      pieces_.back().text += text;
    } else {
      pieces_.push_back({std::string(text), is_template});
    }
  }
  std::vector<PromptPiece> pieces_;
};

// Python's str.strip, which Jinja's trim filter is: white space of Unicode and four separators.
bool is_trimmed(char32_t c) {
  return (unicode_flags(c) & kSpace) || (c >= 0x1c && c <= 0x1f);
}

std::string_view trim(std::string_view text) {
  size_t begin = text.size(), end = 0;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text.substr(at));
    const size_t next = at + c.length;
    if (!c.is_valid || !is_trimmed(c.code_point)) {
      begin = std::min(begin, at);
      end = next;
    }
    at = next;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

void check_role(const ChatMessage& message, const char* format) {
  const std::string& role = message.role;
  if (role == "system" || role == "user" || role == "assistant") return;
  fail(ErrorCode::bad_input, "message has role \"{}\", expected system, user or assistant for {}",
       role.substr(0, 40), format);
}

bool starts_with_system(std::span<const ChatMessage> messages) {
  return !messages.empty() && messages[0].role == "system";
}

std::vector<PromptPiece> render_chatml(std::string_view bos, std::span<const ChatMessage> messages,
                                       const ChatOptions& options) {
  PromptBuilder prompt;
  prompt.markup(bos);
  const auto turn = [&](std::string_view role, std::string_view content) {
    prompt.markup("<|im_start|>");
    prompt.markup(role);
    prompt.markup("\n");
    prompt.content(content);
    prompt.markup("<|im_end|>\n");
  };
  if (options.default_system && !messages.empty() && !starts_with_system(messages)) {
    turn("system", *options.default_system);
  }
  for (const ChatMessage& message : messages) {
    check_role(message, "ChatML");
    turn(message.role, message.content);
  }
  if (options.add_generation_prompt) prompt.markup("<|im_start|>assistant\n");
  return prompt.take();
}

// Gemma knows no system turn: its template puts that text in front of the first turn.
std::vector<PromptPiece> render_gemma(std::string_view bos, std::span<const ChatMessage> messages,
                                      const ChatOptions& options) {
  PromptBuilder prompt;
  prompt.markup(bos);
  std::optional<std::string> system = options.default_system;
  if (starts_with_system(messages)) {
    system = messages[0].content;
    messages = messages.subspan(1);
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    const ChatMessage& message = messages[i];
    check_role(message, "Gemma");
    if ((message.role == "user") != (i % 2 == 0)) {
      fail(ErrorCode::bad_input,
           "message {} has role \"{}\", expected turns of user and assistant to alternate, user "
           "first",
           i, message.role);
    }
    prompt.markup(message.role == "assistant" ? "<start_of_turn>model\n" : "<start_of_turn>user\n");
    if (i == 0 && system) {
      prompt.content(*system);
      prompt.markup("\n\n");
    }
    prompt.content(trim(message.content));
    prompt.markup("<end_of_turn>\n");
  }
  if (options.add_generation_prompt) prompt.markup("<start_of_turn>model\n");
  return prompt.take();
}

}  // namespace

ChatFormat detect_chat_format(const Tokenizer& tokenizer) {
  if (tokenizer.find_special("<|im_start|>") && tokenizer.find_special("<|im_end|>")) {
    return ChatFormat::chatml;
  }
  if (tokenizer.find_special("<start_of_turn>") && tokenizer.find_special("<end_of_turn>")) {
    return ChatFormat::gemma;
  }
  return ChatFormat::none;
}

std::optional<std::string> default_system_message(const Tokenizer& tokenizer) {
  // SmolLM2 is the one family with this pre-tokenizer and ChatML.
  if (tokenizer.pre() == "smollm" && detect_chat_format(tokenizer) == ChatFormat::chatml) {
    return "You are a helpful AI assistant named SmolLM, trained by Hugging Face";
  }
  return std::nullopt;
}

std::vector<PromptPiece> render_chat(const Tokenizer& tokenizer, ChatFormat format,
                                     std::span<const ChatMessage> messages,
                                     const ChatOptions& options) {
  const auto id = tokenizer.special().bos;
  const std::string_view bos = id ? std::string_view(tokenizer.spelling(*id)) : "";
  switch (format) {
    case ChatFormat::chatml: {
      // No BOS of its own, but some models want one in front of every text. Of others
      // (SmolLM2) the mark of a turn is the BOS.
      const bool wants_bos = tokenizer.adds_bos() && bos != "<|im_start|>";
      return render_chatml(wants_bos ? bos : "", messages, options);
    }
    case ChatFormat::gemma:
      return render_gemma(bos, messages, options);
    case ChatFormat::none:
      break;
  }
  fail(ErrorCode::bad_input,
       "the model's vocabulary has no chat markers that are known (<|im_start|> or "
       "<start_of_turn>); use it with plain text");
}

}  // namespace arion
