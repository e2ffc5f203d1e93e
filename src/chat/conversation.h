// A conversation as clients send it, and the form in which templates want it.
#pragma once
#include <string>
#include <string_view>

#include "jinja/heap.h"
#include "jinja/value.h"

namespace arion {

// How messages are put to a template.
struct MessageForm {
  enum class Content : uint8_t {
    as_given,
    text,   // parts joined to one text
    parts,  // a text as the only part
  };
  enum class ToolArguments : uint8_t {
    object,
    text,  // JSON
  };
  Content content = Content::as_given;
  ToolArguments arguments = ToolArguments::object;
  std::string suffix;  // of the last message's content
};

// Messages, tools, documents and template variables. Strings from outside are marked as input;
// names of known roles are not, as templates build markers of them. Used by one thread.
class Conversation {
 public:
  Conversation();

  // JSON: a list of messages, or an object with `messages` and maybe `tools`, `documents`,
  // `chat_template_kwargs` and further template variables. Throws Error{bad_input} saying which
  // message is wrong and how.
  static Conversation parse(std::string_view json);

  void add_message(std::string_view role, std::string_view content);
  void set_variable(std::string_view name, std::string_view json);
  void set_text_variable(std::string_view name, std::string_view text);

  bool has_tools() const { return has_items("tools"); }
  bool has_documents() const { return has_items("documents"); }
  size_t size() const { return messages_.size(); }
  // Whether a message has content in parts, or a call of a tool.
  bool has_parts() const;
  bool has_tool_calls() const;
  // The text of the last message: its content, or the last text part. Throws Error when there is
  // none.
  std::string last_text() const;

  // Dict of template variables without messages; its values are owned by the conversation.
  const jinja::DictObject& variables() const { return *variables_; }
  // Messages as a template gets them, made in `heap`, which may not outlive the conversation:
  //   null values are dropped, absent content is "";
  //   reasoning is found under `reasoning_content` and `thinking`, whichever name it came with;
  //   tool arguments in JSON text become objects.
  jinja::Value messages(jinja::Heap& heap, const MessageForm& form) const;

 private:
  bool has_items(std::string_view name) const;
  void add_checked(const jinja::Value& message);

  std::unique_ptr<jinja::Heap> heap_;
  std::vector<jinja::Value> messages_;  // dicts
  jinja::DictObject* variables_;
};

}  // namespace arion
