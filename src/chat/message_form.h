// One message: its checks, and its form for templates.
#pragma once
#include <optional>
#include <string>

#include "chat/conversation.h"

namespace arion {

// Throws Error{bad_input} naming message `index` where it is no message.
void check_message(const jinja::Value& message, size_t index);

// The message as MessageForm says. `message` has passed the check and outlives the result.
jinja::Value to_form(jinja::Heap& heap, const jinja::Value& message, const MessageForm& form);

// Its content, or the last text part.
std::optional<std::string> find_last_text(const jinja::Value& message);

}  // namespace arion
