#include "api/answer_format.h"

#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "api/token_text.h"
#include "base/check.h"
#include "base/utf8.h"

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

ordered_json prompt_logprobs_json(const ChoiceNews& news, const GenerationRequest& request,
                                  const Tokenizer& tokenizer) {
  const auto entry = [&](TokenId token, float logprob, int rank) -> ordered_json {
    return {{"logprob", json_logprob(logprob)},
            {"rank", rank},
            {"decoded_token", repair_utf8(token_bytes(tokenizer, token))}};
  };
  const std::vector<TokenId>& prompt = request.prompt_of(news.index).tokens;
  ordered_json list = ordered_json::array({nullptr});
  for (size_t i = 0; i < news.prompt_logprobs.size(); ++i) {
    const TokenLogprobs& logprobs = news.prompt_logprobs[i];
    const TokenId token = prompt[i + 1];
    ordered_json item{{std::to_string(token), entry(token, logprobs.chosen, logprobs.rank)}};
    int rank = 0;
    for (const TokenLogprob& rival : first_of(logprobs.top, request.prompt_logprobs)) {
      item[std::to_string(rival.id)] = entry(rival.id, rival.logprob, ++rank);
    }
    list.push_back(std::move(item));
  }
  return list;
}

std::string dump_json(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string chunk_head(const ordered_json& envelope) {
  std::string text = dump_json(envelope);
  CHECK(text.ends_with("[]}"));
  text.resize(text.size() - std::strlen("]}"));
  return text;
}

std::string chunk_text(std::string_view head, const ordered_json& choice, const Usage* usage) {
  std::string text(head);
  text += dump_json(choice);
  text += ']';
  if (usage != nullptr) text += ",\"usage\":" + dump_json(usage_json(*usage));
  text += '}';
  return text;
}

}  // namespace arion
