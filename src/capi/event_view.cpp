#include "capi/event_view.h"

#include <span>

namespace arion {
namespace {

int32_t finish_value(FinishReason reason) {
  switch (reason) {
    case FinishReason::none:
      return ARION_FINISH_NONE;
    case FinishReason::stop:
      return ARION_FINISH_STOP;
    case FinishReason::length:
      return ARION_FINISH_LENGTH;
    case FinishReason::cancelled:
      return ARION_FINISH_CANCELLED;
    case FinishReason::error:
      break;
  }
  return ARION_FINISH_ERROR;
}

}  // namespace

void EventView::LogprobsView::show(std::span<const TokenId> tokens,
                                   std::span<const TokenLogprobs> logprobs) {
  entries.clear();
  tops.clear();
  size_t total = 0;
  for (const TokenLogprobs& entry : logprobs) total += entry.top.size();
  tops.reserve(total);  // so that the pointers into it stay valid
  for (size_t i = 0; i < logprobs.size(); ++i) {
    const TokenLogprobs& entry = logprobs[i];
    const arion_token_logprob* top = tops.data() + tops.size();
    for (const TokenLogprob& rival : entry.top) tops.push_back({rival.id, rival.logprob});
    entries.push_back({.chosen = {tokens[i], entry.chosen},
                       .rank = entry.rank,
                       .top = top,
                       .top_count = entry.top.size()});
  }
}

const arion_event& EventView::show(Choice& choice, const GenerationRequest& request) {
  news_ = choice.take();
  error_ = choice.error();
  const Prompt& prompt = request.prompt_of(news_.index);
  logprobs_.show(news_.tokens, news_.logprobs);
  prompt_logprobs_.show(std::span(prompt.tokens).subspan(1), news_.prompt_logprobs);
  event_ = {.size = sizeof event_,
            .choice = news_.index,
            .text = news_.text.c_str(),
            .text_len = news_.text.size(),
            .tokens = news_.tokens.data(),
            .token_count = news_.tokens.size(),
            .logprobs = logprobs_.entries.data(),
            .logprob_count = logprobs_.entries.size(),
            .prompt_logprobs = prompt_logprobs_.entries.data(),
            .prompt_logprob_count = prompt_logprobs_.entries.size(),
            .seed = request.settings.sampling.seed.value_or(0),
            .finish = finish_value(news_.finish),
            .stop_token = news_.stop_token.value_or(-1)};
  if (news_.finish == FinishReason::none) return event_;
  if (news_.stop_string) {
    const std::string& stop = request.settings.stop_strings[*news_.stop_string];
    event_.stop_string = stop.c_str();
    event_.stop_string_len = stop.size();
  }
  if (!error_.empty()) {
    event_.error = error_.c_str();
    event_.error_len = error_.size();
  }
  event_.prompt_tokens = static_cast<int64_t>(prompt.tokens.size());
  event_.cached_tokens = choice.summary().cached_tokens;
  event_.completion_tokens = choice.tokens();
  return event_;
}

}  // namespace arion
