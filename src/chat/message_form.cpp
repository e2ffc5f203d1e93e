#include "chat/message_form.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "jinja/json.h"
#include "jinja/operators.h"

namespace arion {
namespace {

using jinja::DictObject;
using jinja::Heap;
using jinja::Kind;
using jinja::Text;
using jinja::Value;

// Templates build markers such as <|user|> of these names. Any other name stays input: it could
// make a marker of a different kind.
constexpr std::array<std::string_view, 14> kKnownRoles = {
    "system",  "user", "assistant", "tool",      "developer",       "function",      "model",
    "ipython", "root", "document",  "documents", "latest_reminder", "tool_response", "environment"};
constexpr std::array<std::string_view, 3> kReasoningNames = {"reasoning_content", "thinking",
                                                             "reasoning"};

// Checks that the list of content parts holds parts.
void check_parts(const Value& content, size_t index) {
  for (const Value& part : content.items()) {
    const Value* type = part.is_dict() ? part.as_dict().find("type") : nullptr;
    if (type == nullptr || !type->is_string()) {
      fail(ErrorCode::bad_input, "message {}: a content part is an object with a `type`", index);
    }
    const Value* text = part.as_dict().find("text");
    if (type->bytes() == "text" && (text == nullptr || !text->is_string())) {
      fail(ErrorCode::bad_input, "message {}: a content part of type text has no `text`", index);
    }
  }
}

Value text_of_parts(Heap& heap, const Value& parts) {
  Text text;
  for (const Value& part : parts.items()) {
    const Value* piece = part.as_dict().find("text");
    if (piece == nullptr || !piece->is_string()) {
      fail(ErrorCode::bad_input, "content of type {} is not supported by the chat template",
           part.as_dict().find("type")->bytes());
    }
    text.append(piece->text());
  }
  return jinja::make_string(heap, std::move(text));
}

Value with_suffix(Heap& heap, const Value& text, const std::string& suffix) {
  Text longer = text.text();
  longer.append(suffix, jinja::Origin::input);
  return jinja::make_string(heap, std::move(longer));
}

class MessageBuilder {
 public:
  MessageBuilder(Heap& heap, const MessageForm& form) : heap_(heap), form_(form) {}

  Value build(const DictObject& message) {
    DictObject* out = nullptr;
    const Value result = jinja::make_dict(heap_, out);
    for (const auto& [name, value] : message.entries()) {
      if (value.is_none()) continue;
      if (name.bytes() == "role") {
        out->set(name, role(value));
      } else if (name.bytes() == "content") {
        out->set(name, content(value));
      } else if (name.bytes() == "tool_calls" && value.is(Kind::list)) {
        out->set(name, tool_calls(value));
      } else {
        out->set(name, value);
      }
    }
    if (out->find("content") == nullptr) set(*out, "content", content(string("")));
    name_reasoning(*out);
    return result;
  }

 private:
  Value string(std::string_view text) { return jinja::make_string(heap_, text); }
  void set(DictObject& dict, std::string_view name, const Value& value) {
    dict.set(string(name), value);
  }

  Value role(const Value& given) {
    const bool is_known = std::ranges::find(kKnownRoles, given.bytes()) != kKnownRoles.end();
    return is_known ? string(given.bytes()) : given;
  }

  Value content(const Value& given) {
    if (given.is(Kind::list)) {
      if (form_.content == MessageForm::Content::text) {
        return continued(text_of_parts(heap_, given));
      }
      return form_.suffix.empty() ? given : continued_parts(given);
    }
    const Value text = continued(given);
    if (form_.content != MessageForm::Content::parts) return text;
    DictObject* part = nullptr;
    const Value value = jinja::make_dict(heap_, part);
    set(*part, "type", string("text"));
    set(*part, "text", text);
    return jinja::make_list(heap_, {value});
  }

  Value continued(const Value& text) {
    return form_.suffix.empty() ? text : with_suffix(heap_, text, form_.suffix);
  }

  // The last part with a text goes on.
  Value continued_parts(const Value& given) {
    std::vector<Value> parts = given.items();
    for (size_t i = parts.size(); i-- > 0;) {
      const Value* text = parts[i].as_dict().find("text");
      if (text == nullptr || !text->is_string()) continue;
      DictObject* part = nullptr;
      const Value longer = jinja::make_dict(heap_, part);
      for (const auto& [name, value] : parts[i].as_dict().entries()) part->set(name, value);
      set(*part, "text", continued(*text));
      parts[i] = longer;
      break;
    }
    return jinja::make_list(heap_, std::move(parts));
  }

  Value tool_calls(const Value& given) {
    std::vector<Value> calls;
    for (const Value& call : given.items()) {
      calls.push_back(call.is_dict() ? tool_call(call.as_dict()) : call);
    }
    return jinja::make_list(heap_, std::move(calls));
  }

  Value tool_call(const DictObject& given) {
    DictObject* call = nullptr;
    const Value result = jinja::make_dict(heap_, call);
    for (const auto& [name, value] : given.entries()) {
      if (name.bytes() == "function" && value.is_dict()) {
        call->set(name, tool_call(value.as_dict()));
      } else if (name.bytes() == "arguments") {
        call->set(name, arguments(value));
      } else if (!value.is_none()) {
        call->set(name, value);
      }
    }
    return result;
  }

  Value arguments(const Value& given) {
    if (form_.arguments == MessageForm::ToolArguments::text) {
      if (given.is_string()) return given;
      return jinja::make_string(heap_, jinja::to_json(heap_, given, {}));
    }
    if (!given.is_string()) return given;
    try {
      return jinja::parse_json(heap_, given.bytes(), jinja::Origin::input);
    } catch (const Error&) {
      return given;  // what the model wrote was no JSON: shown as it is
    }
  }

  void name_reasoning(DictObject& message) {
    for (const std::string_view name : kReasoningNames) {
      const Value* found = message.find(name);
      if (found == nullptr) continue;
      const Value reasoning = *found;
      set(message, "reasoning_content", reasoning);
      if (message.find("thinking") == nullptr) set(message, "thinking", reasoning);
      return;
    }
  }

  Heap& heap_;
  const MessageForm& form_;
};

}  // namespace

void check_message(const Value& message, size_t index) {
  if (!message.is_dict()) {
    fail(ErrorCode::bad_input, "message {} is of type {}, expected an object", index,
         jinja::type_name(message));
  }
  const Value* role = message.as_dict().find("role");
  if (role == nullptr || !role->is_string()) {
    fail(ErrorCode::bad_input, "message {} has no `role`", index);
  }
  const Value* content = message.as_dict().find("content");
  if (content == nullptr || content->is_none() || content->is_string()) return;
  if (!content->is(Kind::list)) {
    fail(ErrorCode::bad_input, "message {}: `content` is of type {}, expected text, parts or null",
         index, jinja::type_name(*content));
  }
  check_parts(*content, index);
}

Value to_form(Heap& heap, const Value& message, const MessageForm& form) {
  return MessageBuilder(heap, form).build(message.as_dict());
}

std::optional<std::string> find_last_text(const Value& message) {
  const Value* content = message.as_dict().find("content");
  if (content == nullptr) return std::nullopt;
  if (content->is_string()) return std::string(content->bytes());
  if (!content->is(Kind::list)) return std::nullopt;
  for (size_t i = content->items().size(); i-- > 0;) {
    const Value* text = content->items()[i].as_dict().find("text");
    if (text != nullptr && text->is_string()) return std::string(text->bytes());
  }
  return std::nullopt;
}

}  // namespace arion
