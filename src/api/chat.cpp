// POST /v1/chat/completions: messages that the model's template makes a prompt of.
#include <limits>

#include "api/api_error.h"
#include "api/generation_request.h"
#include "chat/conversation.h"

namespace arion {
namespace {

using nlohmann::json;

constexpr const char* kUnsupportedInChats[] = {
    "tools", "functions", "tool_choice", "function_call", "chat_template", "echo", "audio"};

void check_fields(const Fields& fields) {
  for (const char* name : kUnsupportedInChats) {
    const json* value = fields.find(name);
    if (value != nullptr && *value != "none") fields.refuse_unsupported(name);
  }
  const json* modalities = fields.find("modalities");
  if (modalities != nullptr && *modalities != json::array({"text"})) {
    refuse("modalities", "modalities is {}, expected [\"text\"]", modalities->dump().substr(0, 80));
  }
}

// Parts that are no text would be left out of the prompt.
void check_contents(const json& messages) {
  for (const json& message : messages) {
    const auto content = message.is_object() ? message.find("content") : message.end();
    if (!message.is_object() || content == message.end() || !content->is_array()) continue;
    for (const json& part : *content) {
      const auto type = part.is_object() ? part.find("type") : part.end();
      if (!part.is_object() || type == part.end() || *type == "text") continue;
      refuse("messages", "a message has content of type {}, this model reads only text",
             describe_json(*type));
    }
  }
}

void add_variables(const JsonObject& body, const Fields& fields, Conversation& conversation) {
  if (fields.has("documents")) conversation.set_variable("documents", body.source("documents"));
  if (const auto effort = fields.text("reasoning_effort")) {
    conversation.set_text_variable("reasoning_effort", *effort);
  }
}

// Only what is about the conversation reaches the template, in the order the client wrote it.
Conversation read_conversation(const JsonObject& body, const Fields& fields) {
  const json* messages = fields.find("messages");
  if (messages == nullptr || !messages->is_array() || messages->empty()) {
    refuse("messages", "messages is {}, expected a list of at least one message",
           messages == nullptr ? "absent" : describe_json(*messages));
  }
  check_contents(*messages);
  std::string text = fmt::format("{{\"messages\":{}", body.source("messages"));
  if (fields.object("chat_template_kwargs")) {
    text += fmt::format(",\"chat_template_kwargs\":{}", body.source("chat_template_kwargs"));
  }
  try {
    Conversation conversation = Conversation::parse(text + "}");
    add_variables(body, fields, conversation);
    return conversation;
  } catch (const Error& error) {
    refuse("messages", "{}", error.what());
  }
}

}  // namespace

Prompt render_messages(const JsonObject& body, const ServedModel& model) {
  const Fields fields(body.value());
  if (model.chat_template == nullptr) {
    refuse("messages", "the model has no known chat format; use /v1/completions");
  }
  const Conversation conversation = read_conversation(body, fields);
  PromptOptions options;
  options.continue_final_message = fields.flag("continue_final_message").value_or(false);
  options.add_generation_prompt =
      fields.flag("add_generation_prompt").value_or(!options.continue_final_message);
  if (options.continue_final_message && options.add_generation_prompt) {
    refuse("continue_final_message",
           "continue_final_message and add_generation_prompt exclude each other");
  }
  try {
    const jinja::Text prompt = model.chat_template->render(conversation, options);
    return {encode_prompt(model.tokenizer, prompt), std::string(prompt.bytes())};
  } catch (const Error& error) {
    refuse("messages", "{}", error.what());
  }
}

GenerationRequest parse_chat(const JsonObject& body, const ServedModel& model) {
  const Fields fields(body.value());
  GenerationRequest out = read_generation(fields, model);
  check_fields(fields);
  const auto top = fields.integer("top_logprobs", 0, kMaxServedLogprobs);
  if (fields.flag("logprobs").value_or(false)) {
    out.settings.sampling.logprobs = static_cast<int>(top.value_or(0));
  } else if (top && *top > 0) {
    refuse("top_logprobs", "top_logprobs needs logprobs to be true");
  }
  constexpr int64_t kAny = std::numeric_limits<int32_t>::max();
  auto max_tokens = fields.integer("max_completion_tokens", 1, kAny);
  if (!max_tokens) max_tokens = fields.integer("max_tokens", 1, kAny);
  if (max_tokens) out.settings.max_tokens = static_cast<int>(*max_tokens);
  out.prompts.push_back({render_messages(body, model).tokens, {}});
  fit_prompt(fields, model, out.settings.max_tokens, out.prompts.front().tokens);
  return out;
}

}  // namespace arion
