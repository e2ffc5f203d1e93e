// Answers of /v1/chat/completions.
#include <nlohmann/json.hpp>
#include <utility>

#include "api/answer_format.h"
#include "api/token_text.h"
#include "base/utf8.h"

namespace arion {
namespace {

using nlohmann::ordered_json;

constexpr const char* kChunk = "chat.completion.chunk";

class ChatFormat final : public AnswerFormat {
 public:
  ChatFormat(const GenerationRequest& request, const Tokenizer& tokenizer, AnswerHead head)
      : request_(request),
        tokenizer_(tokenizer),
        head_(std::move(head)),
        chunk_head_(chunk_head(envelope(kChunk))) {}

  std::string chunk(ChoiceNews news, const Usage* usage) override {
    ordered_json delta = ordered_json::object();
    // The role comes with the first token, so that the time of the first chunk is that of a token.
    if (news.is_first) delta["role"] = "assistant";
    if (news.is_first || !news.text.empty()) delta["content"] = std::move(news.text);
    return chunk_text(chunk_head_, choice("delta", std::move(delta), news), usage);
  }

  std::string usage_chunk(const Usage& usage) override {
    ordered_json body = envelope(kChunk);
    body["usage"] = usage_json(usage);
    body["seed"] = head_.seed;
    return dump_json(body);
  }

  std::string whole(std::vector<ChoiceNews> answers, const Usage& usage) override {
    ordered_json body = envelope("chat.completion");
    for (ChoiceNews& answer : answers) {
      ordered_json message{
          {"role", "assistant"}, {"content", std::move(answer.text)}, {"refusal", nullptr}};
      body["choices"].push_back(choice("message", std::move(message), answer));
    }
    if (request_.prompt_logprobs >= 0) {
      body["prompt_logprobs"] = prompt_logprobs_json(answers.front(), request_, tokenizer_);
    }
    body["usage"] = usage_json(usage);
    body["seed"] = head_.seed;
    return dump_json(body);
  }

 private:
  ordered_json envelope(const char* object) const {
    return {{"id", "chatcmpl-" + head_.id},
            {"object", object},
            {"created", head_.created},
            {"model", head_.model},
            {"choices", ordered_json::array()}};
  }

  ordered_json choice(const char* name, ordered_json content, const ChoiceNews& news) const {
    ordered_json out{{"index", news.index}, {name, std::move(content)}, {"logprobs", nullptr}};
    if (request_.settings.sampling.logprobs >= 0) out["logprobs"] = logprobs(news);
    out["finish_reason"] = finish_json(news.finish);
    out["stop_reason"] = stop_reason_json(news, request_);
    if (request_.returns_token_ids) out["token_ids"] = news.tokens;
    return out;
  }

  ordered_json token(TokenId id, float logprob) const {
    const std::string bytes = token_bytes(tokenizer_, id);
    return {{"token",
             request_.spells_token_ids ? token_name(tokenizer_, id, true) : repair_utf8(bytes)},
            {"logprob", json_logprob(logprob)},
            {"bytes", byte_list(bytes)}};
  }

  ordered_json logprobs(const ChoiceNews& news) const {
    ordered_json content = ordered_json::array();
    for (size_t i = 0; i < news.logprobs.size(); ++i) {
      ordered_json entry = token(news.tokens[i], news.logprobs[i].chosen);
      ordered_json top = ordered_json::array();
      for (const TokenLogprob& rival : news.logprobs[i].top) {
        top.push_back(token(rival.id, rival.logprob));
      }
      entry["top_logprobs"] = std::move(top);
      content.push_back(std::move(entry));
    }
    return {{"content", std::move(content)}};
  }

  const GenerationRequest& request_;
  const Tokenizer& tokenizer_;
  AnswerHead head_;
  std::string chunk_head_;
};

}  // namespace

std::unique_ptr<AnswerFormat> make_chat_format(const GenerationRequest& request,
                                               const Tokenizer& tokenizer, AnswerHead head) {
  return std::make_unique<ChatFormat>(request, tokenizer, std::move(head));
}

}  // namespace arion
