// POST /v1/completions: texts or token ids to be continued as they are.
#include <algorithm>
#include <limits>

#include "api/api_error.h"
#include "api/generation_request.h"
#include "base/utf8.h"
#include "text/detokenizer.h"

namespace arion {
namespace {

using nlohmann::json;

constexpr int64_t kDefaultTokens = 16;  // as OpenAI has it

// One of several prompts, or the only one.
Prompt read_prompt(const json& value, const ServedModel& model, bool adds_special) {
  Prompt prompt;
  if (value.is_string()) {
    prompt.text = value.get<std::string>();
    prompt.tokens = model.tokenizer.encode(prompt.text, {.add_special = adds_special});
    if (prompt.tokens.empty() && model.tokenizer.special().bos) {
      prompt.tokens.push_back(*model.tokenizer.special().bos);
    }
    return prompt;
  }
  prompt.tokens.reserve(value.size());
  for (const json& id : value) prompt.tokens.push_back(to_token_id(id, "prompt"));
  return prompt;
}

// A string, a list of them, a list of token ids, or a list of such lists.
std::vector<Prompt> read_prompts(const Fields& fields, const ServedModel& model) {
  const json* value = fields.find("prompt");
  if (value == nullptr) refuse("prompt", "there is no prompt");
  const bool adds_special = fields.flag("add_special_tokens").value_or(true);
  if (value->is_string() || (value->is_array() && !value->empty() && (*value)[0].is_number())) {
    return {read_prompt(*value, model, adds_special)};
  }
  if (!value->is_array() || value->empty() || value->size() > kMaxChoices) {
    refuse("prompt", "prompt is {}, expected a string, token ids, or a list of at most {} of them",
           describe_json(*value), kMaxChoices);
  }
  std::vector<Prompt> prompts;
  for (const json& item : *value) {
    if (!item.is_string() && !item.is_array()) {
      refuse("prompt", "prompt contains {}, expected strings or lists of token ids",
             describe_json(item));
    }
    prompts.push_back(read_prompt(item, model, adds_special));
  }
  return prompts;
}

}  // namespace

GenerationRequest parse_completion(const JsonObject& body, const ServedModel& model) {
  const Fields fields(body.value());
  GenerationRequest out = read_generation(fields, model);
  fields.refuse_unsupported("suffix");
  out.echoes = fields.flag("echo").value_or(false);
  const auto logprobs = fields.integer("logprobs", 0, kMaxServedLogprobs);
  if (logprobs) out.settings.sampling.logprobs = static_cast<int>(*logprobs);
  if (out.echoes) {
    out.settings.prompt_logprobs = std::max(out.prompt_logprobs, out.settings.sampling.logprobs);
  }
  out.settings.max_tokens =
      static_cast<int>(fields.integer("max_tokens", 0, std::numeric_limits<int32_t>::max())
                           .value_or(kDefaultTokens));
  if (out.settings.max_tokens == 0 && !out.echoes && out.prompt_logprobs < 0) {
    refuse("max_tokens",
           "max_tokens is 0, expected 1 or more unless the prompt is echoed or judged");
  }
  out.prompts = read_prompts(fields, model);
  if (out.choices() > kMaxChoices) {
    refuse("n", "{} prompts with {} choices each are {}, expected at most {}", out.prompts.size(),
           out.n, out.choices(), kMaxChoices);
  }
  for (Prompt& prompt : out.prompts) {
    fit_prompt(fields, model, out.settings.max_tokens, prompt.tokens);
    if (!out.echoes) {
      prompt.text.clear();
    } else if (prompt.text.empty()) {
      prompt.text = repair_utf8(decode_bytes(model.tokenizer, prompt.tokens));
    }
  }
  return out;
}

}  // namespace arion
