// What the API's fuzzer does with one body: read it as each kind of request.
#pragma once
#include <string_view>

#include "api/api_error.h"
#include "api/generation_request.h"
#include "api/tokens.h"
#include "base/check.h"
#include "engine/fake_tokenizer.h"

namespace arion::test {

struct FuzzModel {
  Tokenizer tokenizer = byte_tokenizer();
  ChatTemplate chat_template{
      {.standard = "{% for m in messages %}{{ m.role }}:{{ m.content }};{% endfor %}"},
      special_texts(tokenizer)};
  ServedModel served{.names = {"tiny"},
                     .tokenizer = tokenizer,
                     .chat_template = &chat_template,
                     .context_tokens = 4096,
                     .vocab = tokenizer.size()};
};

// A refusal with a status of the client's fault is a fine answer, any other exception is not.
inline void fuzz_http_api(std::string_view body) {
  static const FuzzModel model;
  const auto attempt = [&](auto read) {
    try {
      const JsonObject object(body);
      read(object, model.served);
    } catch (const ApiError& error) {
      CHECK(error.status >= 400 && error.status < 500);
      CHECK(!to_json(error).empty());
    }
  };
  const auto check = [](const GenerationRequest& request) {
    CHECK(!request.prompts.empty() && request.choices() <= kMaxChoices);
    for (const Prompt& prompt : request.prompts) CHECK(!prompt.tokens.empty());
  };
  attempt([&](const auto& object, const auto& served) { check(parse_completion(object, served)); });
  attempt([&](const auto& object, const auto& served) { check(parse_chat(object, served)); });
  attempt([](const auto& object, const auto& served) { answer_tokenize_body(object, served); });
  attempt([](const auto& object, const auto& served) { answer_detokenize_body(object, served); });
}

}  // namespace arion::test
