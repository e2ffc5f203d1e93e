// Messages as clients send them.
#include "chat/conversation.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "jinja/json.h"

namespace arion {
namespace {

std::string messages_of(std::string_view json, const MessageForm& form = {}) {
  const Conversation conversation = Conversation::parse(json);
  jinja::Heap heap;
  return std::string(jinja::to_json(heap, conversation.messages(heap, form), {}).bytes());
}

TEST(Conversation, NullIsDroppedAndContentIsNeverMissing) {
  EXPECT_EQ(messages_of(R"([{"role": "assistant", "content": null, "name": null}])"),
            R"([{"role": "assistant", "content": ""}])");
  EXPECT_EQ(messages_of(R"([{"role": "assistant"}])"), R"([{"role": "assistant", "content": ""}])");
}

TEST(Conversation, ToolArgumentsAreObjectsOrTextAsTheTemplateWants) {
  constexpr std::string_view kText =
      R"([{"role": "assistant", "content": "", "tool_calls": [{"id": null, "function": )"
      R"({"name": "f", "arguments": "{\"b\": 1, \"a\": [2.0]}"}}]}])";
  EXPECT_EQ(messages_of(kText),
            R"([{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", )"
            R"("arguments": {"b": 1, "a": [2.0]}}}]}])");
  EXPECT_EQ(messages_of(messages_of(kText), {.arguments = MessageForm::ToolArguments::text}),
            R"([{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", )"
            R"("arguments": "{\"b\": 1, \"a\": [2.0]}"}}]}])");
  EXPECT_EQ(
      messages_of(R"([{"role": "x", "content": "", "tool_calls": [{"arguments": "{broken"}]}])"),
      R"([{"role": "x", "content": "", "tool_calls": [{"arguments": "{broken"}]}])");
}

TEST(Conversation, ReasoningIsFoundUnderEveryName) {
  EXPECT_EQ(messages_of(R"([{"role": "assistant", "content": "a", "reasoning": "r"}])"),
            R"([{"role": "assistant", "content": "a", "reasoning": "r", "reasoning_content": "r", )"
            R"("thinking": "r"}])");
}

TEST(Conversation, PartsAndTextBecomeEachOther) {
  constexpr std::string_view kParts =
      R"([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}])";
  EXPECT_EQ(messages_of(kParts, {.content = MessageForm::Content::text}),
            R"([{"role": "user", "content": "ab"}])");
  EXPECT_EQ(messages_of(R"([{"role": "user", "content": "a"}])",
                        {.content = MessageForm::Content::parts}),
            R"([{"role": "user", "content": [{"type": "text", "text": "a"}]}])");
  EXPECT_THROW(messages_of(R"([{"role": "user", "content": [{"type": "image"}]}])",
                           {.content = MessageForm::Content::text}),
               Error);
}

TEST(Conversation, AnObjectBringsToolsAndVariables) {
  const Conversation conversation = Conversation::parse(
      R"({"messages": [], "tools": [{}], "a": 1, "chat_template_kwargs": {"b": "x"}})");
  EXPECT_TRUE(conversation.has_tools());
  EXPECT_FALSE(conversation.has_documents());
  EXPECT_EQ(conversation.variables().find("a")->as_integer(), 1);
  EXPECT_EQ(conversation.variables().find("b")->bytes(), "x");
  EXPECT_EQ(conversation.variables().find("messages"), nullptr);
}

TEST(Conversation, WhatIsNoConversationIsAnError) {
  for (const char* json :
       {"", "1", "{}", R"({"messages": {}})", "[1]", "[{}]", R"([{"role": 1}])",
        R"([{"role": "user", "content": 1}])", R"([{"role": "user", "content": ["x"]}])",
        R"([{"role": "user", "content": [{"type": "text"}]}])", "[", R"([{"role": "user")"}) {
    EXPECT_THROW(Conversation::parse(json), Error) << json;
  }
}

}  // namespace
}  // namespace arion
