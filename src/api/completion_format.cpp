// Answers of /v1/completions.
#include <nlohmann/json.hpp>
#include <utility>

#include "api/answer_format.h"
#include "api/token_text.h"

namespace arion {
namespace {

using nlohmann::ordered_json;

class CompletionFormat final : public AnswerFormat {
 public:
  CompletionFormat(const GenerationRequest& request, const Tokenizer& tokenizer, AnswerHead head)
      : request_(request),
        tokenizer_(tokenizer),
        head_(std::move(head)),
        chunk_head_(chunk_head(envelope())),
        offsets_(request.choices(), 0) {}

  std::string chunk(ChoiceNews news, const Usage* usage) override {
    return chunk_text(chunk_head_, choice(std::move(news)), usage);
  }

  std::string usage_chunk(const Usage& usage) override {
    ordered_json body = envelope();
    body["usage"] = usage_json(usage);
    body["seed"] = head_.seed;
    return dump_json(body);
  }

  std::string whole(std::vector<ChoiceNews> answers, const Usage& usage) override {
    ordered_json body = envelope();
    for (ChoiceNews& answer : answers) body["choices"].push_back(choice(std::move(answer)));
    body["usage"] = usage_json(usage);
    body["seed"] = head_.seed;
    return dump_json(body);
  }

 private:
  ordered_json envelope() const {
    return {{"id", "cmpl-" + head_.id},
            {"object", "text_completion"},
            {"created", head_.created},
            {"model", head_.model},
            {"choices", ordered_json::array()}};
  }

  ordered_json choice(ChoiceNews news) {
    ordered_json out{{"index", news.index}, {"text", std::move(news.text)}, {"logprobs", nullptr}};
    if (request_.settings.sampling.logprobs >= 0) out["logprobs"] = logprobs(news);
    out["finish_reason"] = finish_json(news.finish);
    out["stop_reason"] = stop_reason_json(news, request_);
    if (request_.returns_token_ids) out["token_ids"] = news.tokens;
    if (request_.prompt_logprobs >= 0) {
      out["prompt_logprobs"] = prompt_logprobs_json(news, request_, tokenizer_);
    }
    return out;
  }

  // Lists with one entry per token.
  ordered_json logprobs(const ChoiceNews& news) {
    ordered_json offsets = ordered_json::array(), values = offsets, names = offsets, tops = offsets;
    size_t& offset = offsets_[news.index];
    const auto add = [&](TokenId token, const TokenLogprobs* entry) {
      std::string name = token_name(tokenizer_, token, request_.spells_token_ids);
      offsets.push_back(offset);
      offset += count_characters(token_bytes(tokenizer_, token));
      values.push_back(entry == nullptr ? ordered_json()
                                        : ordered_json(json_logprob(entry->chosen)));
      tops.push_back(entry == nullptr ? ordered_json() : top(token, name, *entry));
      names.push_back(std::move(name));
    };
    if (news.is_first && request_.echoes) {
      const std::vector<TokenId>& prompt = request_.prompt_of(news.index).tokens;
      for (size_t i = 0; i < prompt.size(); ++i) {  // of the first token nothing is known
        const bool is_known = i > 0 && i <= news.prompt_logprobs.size();
        add(prompt[i], is_known ? &news.prompt_logprobs[i - 1] : nullptr);
      }
    }
    for (size_t i = 0; i < news.logprobs.size(); ++i) add(news.tokens[i], &news.logprobs[i]);
    return {{"text_offset", std::move(offsets)},
            {"token_logprobs", std::move(values)},
            {"tokens", std::move(names)},
            {"top_logprobs", std::move(tops)}};
  }

  // The most probable tokens, and the chosen one whether it is among them or not.
  ordered_json top(TokenId token, const std::string& name, const TokenLogprobs& entry) const {
    ordered_json out = ordered_json::object();
    for (const TokenLogprob& rival : first_of(entry.top, request_.settings.sampling.logprobs)) {
      out[rival.id == token ? name : token_name(tokenizer_, rival.id, request_.spells_token_ids)] =
          json_logprob(rival.logprob);
    }
    out[name] = json_logprob(entry.chosen);
    return out;
  }

  const GenerationRequest& request_;
  const Tokenizer& tokenizer_;
  AnswerHead head_;
  std::string chunk_head_;
  std::vector<size_t> offsets_;  // characters of each choice's tokens so far
};

}  // namespace

std::unique_ptr<AnswerFormat> make_completion_format(const GenerationRequest& request,
                                                     const Tokenizer& tokenizer, AnswerHead head) {
  return std::make_unique<CompletionFormat>(request, tokenizer, std::move(head));
}

}  // namespace arion
