#include "api/tokens.h"

#include <nlohmann/json.hpp>

#include "api/answer_format.h"
#include "api/api_error.h"
#include "api/fields.h"
#include "api/generation_request.h"
#include "base/utf8.h"
#include "text/detokenizer.h"

namespace arion {

using nlohmann::ordered_json;

// {prompt | messages, add_special_tokens, return_token_strs} as vLLM has it; `content` and
// `add_special` are llama.cpp's names.
std::string answer_tokenize_body(const JsonObject& body, const ServedModel& model) {
  const Fields fields(body.value());
  check_model_name(fields, model);
  std::vector<TokenId> tokens;
  if (fields.has("messages")) {
    tokens = render_messages(body, model).tokens;
  } else {
    auto text = fields.text("prompt");
    if (!text) text = fields.text("content");
    if (!text) refuse("prompt", "there is neither a prompt nor messages");
    const auto adds_special = fields.flag("add_special_tokens");
    tokens = model.tokenizer.encode(
        *text, {.add_special = adds_special.value_or(fields.flag("add_special").value_or(true))});
  }
  ordered_json out{{"count", tokens.size()},
                   {"max_model_len", model.context_tokens},
                   {"tokens", tokens},
                   {"token_strs", nullptr}};
  if (fields.flag("return_token_strs").value_or(false)) {
    ordered_json names = ordered_json::array();
    for (const TokenId token : tokens) names.push_back(model.tokenizer.spelling(token));
    out["token_strs"] = std::move(names);
  }
  return dump_json(out);
}

// The text under vLLM's name and llama.cpp's.
std::string answer_detokenize_body(const JsonObject& body, const ServedModel& model) {
  const Fields fields(body.value());
  check_model_name(fields, model);
  if (!fields.has("tokens")) refuse("tokens", "there are no tokens");
  const std::vector<TokenId> tokens = fields.token_ids("tokens", kMaxJsonValues);
  for (const TokenId token : tokens) {
    if (token >= model.tokenizer.size()) {
      refuse("tokens", "tokens contains {}, expected 0 to {}", token, model.tokenizer.size() - 1);
    }
  }
  const std::string text =
      repair_utf8(decode_bytes(model.tokenizer, tokens, {.show_control = true}));
  return dump_json({{"prompt", text}, {"content", text}});
}

}  // namespace arion
