#include "chat/chat_template.h"

#include <utility>

#include "base/error.h"
#include "jinja/text_ops.h"

namespace arion {
namespace {

using jinja::DictObject;
using jinja::Heap;
using jinja::Text;
using jinja::Value;

// As transformers has it: where this stands in the prompt, the model goes on. It ends with a space
// to see whether the template trims content.
constexpr std::string_view kContinueTag = "CONTINUE_FINAL_MESSAGE_TAG ";
constexpr std::string_view kProbe = "CHAT_TEMPLATE_PROBE";

std::string_view without_last(std::string_view text) {
  return text.substr(0, text.size() - 1);
}

// Ends the prompt behind the text of the last message.
Text cut_at_tag(const Text& prompt, const std::string& last_text) {
  const std::string_view bytes = prompt.bytes();
  const size_t at = bytes.rfind(without_last(kContinueTag));
  const Text stripped = jinja::strip(Text(last_text), jinja::Sides::both);
  if (at == std::string_view::npos || bytes.find(stripped.bytes()) == std::string_view::npos) {
    fail(ErrorCode::bad_input,
         "the last message cannot be continued: the chat template does not show all of it");
  }
  const Text cut = prompt.substr(0, at);
  const bool keeps_spaces = bytes.substr(at).starts_with(kContinueTag);
  return keeps_spaces ? cut : jinja::strip(cut, jinja::Sides::right);
}

std::string describe(const std::string& name) {
  return name.empty() ? "the chat template" : "the chat template '" + name + "'";
}

}  // namespace

SpecialTexts special_texts(const Tokenizer& tokenizer) {
  SpecialTexts texts;
  const auto add = [&](const char* name, std::optional<int32_t> id) {
    if (id) texts[name] = tokenizer.spelling(*id);
  };
  const SpecialIds& ids = tokenizer.special();
  add("bos_token", ids.bos);
  add("eos_token", ids.eos);
  add("unk_token", ids.unknown);
  add("pad_token", ids.padding);
  return texts;
}

ChatTemplate::ChatTemplate(const TemplateSources& sources, SpecialTexts specials)
    : specials_(std::move(specials)) {
  if (!sources.standard.empty()) entries_.emplace("", compile("", sources.standard));
  for (const auto& [name, source] : sources.named) entries_.emplace(name, compile(name, source));
  if (entries_.empty()) fail(ErrorCode::bad_input, "there is no chat template");
}

ChatTemplate::Entry ChatTemplate::compile(const std::string& name, std::string_view source) const {
  try {
    Entry entry{jinja::Template(source), true, true};
    entry.takes_text = shows(entry.compiled, MessageForm::Content::as_given);
    entry.takes_parts = shows(entry.compiled, MessageForm::Content::parts);
    return entry;
  } catch (const Error& error) {
    fail(error.code(), "{} cannot be used: {}", describe(name), error.what());
  }
}

// Whether the template shows a user's text in this form, and nothing of the form itself.
bool ChatTemplate::shows(const jinja::Template& compiled, MessageForm::Content content) const {
  Conversation probe;
  probe.add_message("user", kProbe);
  try {
    const Text text = render(compiled, probe, {.content = content}, {});
    const size_t at = text.bytes().find(kProbe);
    if (at == std::string_view::npos) return false;
    // In quotes: a list of parts was printed as such.
    const char before = at > 0 ? text.bytes()[at - 1] : ' ';
    return content != MessageForm::Content::parts || (before != '\'' && before != '"');
  } catch (const Error&) {
    return false;
  }
}

const ChatTemplate::Entry& ChatTemplate::choose(const Conversation& conversation,
                                                const std::string& name) const {
  if (!name.empty()) {
    const auto found = entries_.find(name);
    if (found != entries_.end()) return found->second;
    std::string known;
    for (const auto& [other, entry] : entries_) known += " '" + other + "'";
    fail(ErrorCode::usage, "there is no chat template '{}', only{}", name, known);
  }
  if (conversation.has_tools() && entries_.contains("tool_use")) return entries_.at("tool_use");
  if (conversation.has_documents() && entries_.contains("rag")) return entries_.at("rag");
  if (entries_.contains("")) return entries_.at("");
  if (entries_.contains("default")) return entries_.at("default");
  return entries_.begin()->second;
}

Text ChatTemplate::render(const Conversation& conversation, const PromptOptions& options) const {
  const Entry& entry = choose(conversation, options.template_name);
  if (options.continue_final_message && options.add_generation_prompt) {
    fail(ErrorCode::usage, "a prompt cannot continue the last message and begin a new one");
  }
  MessageForm form;
  if (!entry.takes_parts && entry.takes_text) form.content = MessageForm::Content::text;
  if (!entry.takes_text && entry.takes_parts) form.content = MessageForm::Content::parts;
  if (options.continue_final_message) form.suffix = kContinueTag;
  Text prompt;
  try {
    prompt = render(entry.compiled, conversation, form, options);
  } catch (const Error&) {
    if (!conversation.has_tool_calls()) throw;
    // Some templates put the arguments of a call together with text.
    form.arguments = MessageForm::ToolArguments::text;
    try {
      prompt = render(entry.compiled, conversation, form, options);
    } catch (const Error&) {
      prompt = Text();
    }
    if (prompt.empty()) throw;
  }
  return options.continue_final_message ? cut_at_tag(prompt, conversation.last_text()) : prompt;
}

Text ChatTemplate::render(const jinja::Template& compiled, const Conversation& conversation,
                          const MessageForm& form, const PromptOptions& options) const {
  Heap heap;
  DictObject* variables = nullptr;
  const Value context = jinja::make_dict(heap, variables);
  const auto set = [&](std::string_view name, const Value& value) {
    variables->set(jinja::make_string(heap, name), value);
  };
  for (const auto& [name, text] : specials_) {
    set(name, jinja::make_string_from_bytes(heap, text, jinja::Origin::markup));
  }
  set("messages", conversation.messages(heap, form));
  set("tools", Value::none());
  set("documents", Value::none());
  set("add_generation_prompt", Value::boolean(options.add_generation_prompt));
  for (const auto& [name, value] : conversation.variables().entries()) variables->set(name, value);
  return compiled.render(context, {.now = options.now});
}

std::vector<PromptPiece> to_pieces(const Text& prompt) {
  std::vector<PromptPiece> pieces;
  const auto add = [&](size_t begin, size_t end, bool is_template) {
    if (begin == end) return;
    pieces.push_back({std::string(prompt.bytes().substr(begin, end - begin)), is_template});
  };
  size_t at = 0;
  for (const Text::Range& range : prompt.input_ranges()) {
    add(at, range.begin, true);
    add(range.begin, range.end, false);
    at = range.end;
  }
  add(at, prompt.size(), true);
  return pieces;
}

std::vector<int32_t> encode_prompt(const Tokenizer& tokenizer, const Text& prompt) {
  std::vector<int32_t> ids = tokenizer.encode(to_pieces(prompt), {.add_special = false});
  const auto bos = tokenizer.special().bos;
  if (tokenizer.adds_bos() && bos && (ids.empty() || ids[0] != *bos)) {
    ids.insert(ids.begin(), *bos);
  }
  return ids;
}

}  // namespace arion
