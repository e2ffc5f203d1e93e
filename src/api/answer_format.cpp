#include "api/answer_format.h"

#include <nlohmann/json.hpp>

namespace arion {

using nlohmann::ordered_json;

ordered_json usage_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}}};
}

ordered_json finish_json(FinishReason reason) {
  if (reason == FinishReason::none) return nullptr;
  return reason == FinishReason::cancelled ? "abort" : finish_reason_name(reason);
}

ordered_json stop_reason_json(const ChoiceNews& news, const GenerationRequest& request) {
  if (news.stop_string) return request.settings.stop_strings[*news.stop_string];
  if (news.stop_token) return *news.stop_token;
  return nullptr;
}

std::string dump_json(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace arion
