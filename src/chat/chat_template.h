// The chat format of a model: renders conversations to prompts.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"
#include "jinja/template.h"
#include "text/tokenizer.h"

namespace arion {

// Template texts as a model's file has them.
struct TemplateSources {
  std::string standard;                      // empty: none
  std::map<std::string, std::string> named;  // such as tool_use and rag
};

// Text that stands for special tokens in templates: bos_token, eos_token, ...; absent ones are
// undefined there.
using SpecialTexts = std::map<std::string, std::string>;
SpecialTexts special_texts(const Tokenizer& tokenizer);

struct PromptOptions {
  std::string template_name;  // empty: tool_use with tools, rag with documents, or the standard one
  bool add_generation_prompt = true;
  // The last message is not ended, for the model to go on with; excludes a generation prompt.
  bool continue_final_message = false;
  std::optional<jinja::LocalTime> now;  // default: the clock
};

// Immutable: thread-safe.
class ChatTemplate {
 public:
  // Throws Error{bad_input} saying which template is wrong and where, or that there is none.
  ChatTemplate(const TemplateSources& sources, SpecialTexts specials);

  // The prompt with the origin of every byte. Throws Error{bad_input} where the template refuses
  // the conversation.
  jinja::Text render(const Conversation& conversation, const PromptOptions& options = {}) const;

 private:
  // A template, and which forms of content it understands.
  struct Entry {
    jinja::Template compiled;
    bool takes_text, takes_parts;
  };

  Entry compile(const std::string& name, std::string_view source) const;
  bool shows(const jinja::Template& compiled, MessageForm::Content content) const;
  const Entry& choose(const Conversation& conversation, const std::string& name) const;
  jinja::Text render(const jinja::Template& compiled, const Conversation& conversation,
                     const MessageForm& form, const PromptOptions& options) const;

  SpecialTexts specials_;
  std::map<std::string, Entry> entries_;  // the standard one as ""
};

// Parts for Tokenizer::encode: only what the template wrote may become control tokens.
std::vector<PromptPiece> to_pieces(const jinja::Text& prompt);

// The prompt's tokens. A model that wants BOS gets it once, whether its template writes it or not.
std::vector<int32_t> encode_prompt(const Tokenizer& tokenizer, const jinja::Text& prompt);

}  // namespace arion
