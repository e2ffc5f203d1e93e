#include "api/answer_format.h"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

namespace arion {

using nlohmann::ordered_json;

std::string random_id() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

std::unique_ptr<AnswerFormat> make_answer_format(Dialect dialect, const GenerationRequest& request,
                                                 const ServedModel& model) {
  AnswerHead head{.id = random_id(),
                  .model = model.name(),
                  .created = static_cast<int64_t>(std::time(nullptr)),
                  .seed = request.settings.sampling.seed.value_or(0)};
  return dialect == Dialect::chat
             ? make_chat_format(request, model.tokenizer, std::move(head))
             : make_completion_format(request, model.tokenizer, std::move(head));
}

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
