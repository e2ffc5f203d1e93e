#include "chat/conversation.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "chat/message_form.h"
#include "jinja/json.h"
#include "jinja/operators.h"

namespace arion {

using jinja::DictObject;
using jinja::Heap;
using jinja::Origin;
using jinja::Value;

Conversation::Conversation() : heap_(std::make_unique<Heap>()) {
  variables_ = heap_->make<DictObject>();
}

Conversation Conversation::parse(std::string_view json) {
  Conversation conversation;
  const Value value = jinja::parse_json(*conversation.heap_, json, Origin::input);
  const bool is_object = value.is_dict();
  const Value* messages = is_object ? value.as_dict().find("messages") : &value;
  if (messages == nullptr || !messages->is(jinja::Kind::list)) {
    fail(ErrorCode::bad_input, "expected a list of messages, or an object with a list `messages`");
  }
  for (const Value& message : messages->items()) conversation.add_checked(message);
  if (!is_object) return conversation;
  for (const auto& [name, item] : value.as_dict().entries()) {
    if (name.bytes() == "messages") continue;
    if (name.bytes() != "chat_template_kwargs" || !item.is_dict()) {
      conversation.variables_->set(name, item);
      continue;
    }
    for (const auto& [key, variable] : item.as_dict().entries()) {
      conversation.variables_->set(key, variable);
    }
  }
  return conversation;
}

void Conversation::add_checked(const Value& message) {
  check_message(message, messages_.size());
  messages_.push_back(message);
}

void Conversation::add_message(std::string_view role, std::string_view content) {
  DictObject* dict = nullptr;
  const Value message = jinja::make_dict(*heap_, dict);
  const auto input = [&](std::string_view text) {
    return jinja::make_string_from_bytes(*heap_, text, Origin::input);
  };
  dict->set(jinja::make_string(*heap_, "role"), input(role));
  dict->set(jinja::make_string(*heap_, "content"), input(content));
  add_checked(message);
}

void Conversation::set_variable(std::string_view name, std::string_view json) {
  variables_->set(jinja::make_string_from_bytes(*heap_, name, Origin::input),
                  jinja::parse_json(*heap_, json, Origin::input));
}

void Conversation::set_text_variable(std::string_view name, std::string_view text) {
  variables_->set(jinja::make_string_from_bytes(*heap_, name, Origin::input),
                  jinja::make_string_from_bytes(*heap_, text, Origin::input));
}

bool Conversation::has_items(std::string_view name) const {
  const Value* items = variables_->find(name);
  return items != nullptr && items->is(jinja::Kind::list) && !items->items().empty();
}

bool Conversation::has_parts() const {
  return std::ranges::any_of(messages_, [](const Value& message) {
    const Value* content = message.as_dict().find("content");
    return content != nullptr && content->is(jinja::Kind::list);
  });
}

bool Conversation::has_tool_calls() const {
  return std::ranges::any_of(messages_, [](const Value& message) {
    const Value* calls = message.as_dict().find("tool_calls");
    return calls != nullptr && calls->is(jinja::Kind::list);
  });
}

std::string Conversation::last_text() const {
  if (messages_.empty()) fail(ErrorCode::bad_input, "there is no message to continue");
  const auto text = find_last_text(messages_.back());
  if (!text) fail(ErrorCode::bad_input, "the last message has no text to continue");
  return *text;
}

Value Conversation::messages(Heap& heap, const MessageForm& form) const {
  std::vector<Value> list;
  for (const Value& message : messages_) {
    MessageForm own = form;
    if (&message != &messages_.back()) own.suffix.clear();
    list.push_back(to_form(heap, message, own));
  }
  return jinja::make_list(heap, std::move(list));
}

}  // namespace arion
