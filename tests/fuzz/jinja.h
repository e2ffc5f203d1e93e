// What the template fuzzer does with one input: parse it, render it with a conversation.
#pragma once
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "jinja/json.h"
#include "jinja/template.h"

namespace arion::test {

constexpr std::string_view kFuzzVariables = R"({
  "messages": [{"role": "system", "content": "Be \u00e9."}, {"role": "user", "content": " <|x|> \ud83d\ude80"},
               {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f",
                "arguments": {"a": [1, 2.5, true]}}}]}],
  "tools": [{"type": "function", "function": {"name": "f", "parameters": {"properties": {}}}}],
  "add_generation_prompt": true, "bos_token": "<s>", "s": "Ab c", "i": 7, "f": 0.5, "n": null,
  "big": 123456789012345678901234567890, "l": [3, 1, 2], "d": {"a": 1, "b": "x"}})";

// A refusal is a fine answer; a crash, hang or any other exception is not.
inline void fuzz_jinja(std::string_view source) {
  // Low, so that a loop ends soon and there is time for other inputs.
  const jinja::Limits limits = {
      .steps = 10'000, .memory_bytes = size_t{2} << 20, .output_bytes = size_t{64} << 10};
  try {
    const jinja::Template chat_template(source);
    jinja::Heap heap;
    const jinja::Value variables = jinja::parse_json(heap, kFuzzVariables, jinja::Origin::input);
    const jinja::Text text = chat_template.render(variables, {.limits = limits});
    CHECK(text.size() <= 2 * limits.output_bytes);
    size_t end = 0;
    for (const jinja::Text::Range& range : text.input_ranges()) {
      CHECK(range.begin >= end && range.begin < range.end && range.end <= text.size());
      end = range.end;
    }
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    CHECK(error.what()[0] != '\0');
  }
}

}  // namespace arion::test
