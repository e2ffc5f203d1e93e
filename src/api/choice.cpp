#include "api/choice.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace arion {

Choice::Choice(const GenerationRequest& request, const Tokenizer& tokenizer, size_t index)
    : request_(request), tokenizer_(tokenizer), index_(index) {
  news_.index = index;
  news_.is_first = true;
  if (request.echoes) news_.text = request.prompt_of(index).text;
}

void Choice::add(TokenEvent event) {
  if (is_finished()) return;
  assembler_.push(event.text, news_.text);
  tokens_ += static_cast<int64_t>(event.tokens.size());
  if (!event.tokens.empty()) last_token_ = event.tokens.back();
  news_.tokens.insert(news_.tokens.end(), event.tokens.begin(), event.tokens.end());
  std::ranges::move(event.logprobs, std::back_inserter(news_.logprobs));
  std::ranges::move(event.prompt_logprobs, std::back_inserter(news_.prompt_logprobs));
  has_begun_ = true;
  if (event.finish != FinishReason::none) end(std::move(event));
}

void Choice::end(TokenEvent event) {
  finish_ = news_.finish = event.finish;
  error_ = std::move(event.error);
  summary_ = event.summary;
  if (event.finish == FinishReason::stop) {
    news_.stop_string = summary_.stop_string;
    const bool is_stop_id = std::ranges::find(request_.settings.stop_ids, last_token_) !=
                            request_.settings.stop_ids.end();
    if (!news_.stop_string && is_stop_id) news_.stop_token = last_token_;
    if (request_.includes_stop && news_.stop_string) {
      assembler_.push(request_.settings.stop_strings[*news_.stop_string], news_.text);
    } else if (request_.includes_stop && news_.stop_token) {
      assembler_.push(tokenizer_.bytes(*news_.stop_token), news_.text);
    }
  }
  assembler_.finish(news_.text);
}

ChoiceNews Choice::take() {
  ChoiceNews taken = std::exchange(news_, {});
  news_.index = index_;
  return taken;
}

size_t Choice::pending_bytes() const {
  size_t bytes = news_.text.size() + news_.tokens.size() * sizeof(TokenId);
  for (const auto* list : {&news_.logprobs, &news_.prompt_logprobs}) {
    for (const TokenLogprobs& entry : *list) {
      bytes += sizeof(entry) + entry.top.size() * sizeof(TokenLogprob);
    }
  }
  return bytes;
}

std::vector<Choice> make_choices(const GenerationRequest& request, const Tokenizer& tokenizer) {
  std::vector<Choice> choices;
  choices.reserve(request.choices());
  for (size_t i = 0; i < request.choices(); ++i) choices.emplace_back(request, tokenizer, i);
  return choices;
}

Usage total_usage(const GenerationRequest& request, std::span<const Choice> choices) {
  Usage usage;
  for (const Prompt& prompt : request.prompts) {
    usage.prompt_tokens += static_cast<int64_t>(prompt.tokens.size());
  }
  for (const Choice& choice : choices) {
    usage.completion_tokens += choice.tokens();
    const bool is_first_of_prompt = choice.index() % static_cast<size_t>(request.n) == 0;
    if (is_first_of_prompt) usage.cached_tokens += choice.summary().cached_tokens;
  }
  return usage;
}

}  // namespace arion
