// Checks a request, then turns each row of logits into a token, text and perhaps the end.
#include "engine/request_state.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/error.h"
#include "sample/check_params.h"
#include "sample/guidance.h"

namespace arion {
namespace {

int64_t microseconds(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

// `what` names the prompt in messages; `resumed_tokens` come behind `tokens`.
void check_prompt(std::string_view what, std::span<const TokenId> tokens, int vocab,
                  int64_t context, int64_t resumed_tokens = 0) {
  const auto size = static_cast<int64_t>(tokens.size()) + resumed_tokens;
  if (size >= context) {
    fail(ErrorCode::bad_input,
         "the {} has {} tokens and the context {}, which leaves no room for an answer; shorten "
         "the prompt or use a longer context",
         what, size, context);
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] >= 0 && tokens[i] < vocab) continue;
    fail(ErrorCode::bad_input, "token {} of the {} is {}, expected 0 to {}", i, what, tokens[i],
         vocab - 1);
  }
}

void check_guidance(const GuidanceParams& guidance) {
  check_guidance_scale(guidance.scale);
  if (!guidance.is_on() || !guidance.negative_tokens.empty()) return;
  fail(ErrorCode::bad_input,
       "guidance_scale is {} and there is no negative prompt: expected at least one token, or a "
       "scale of 1",
       guidance.scale);
}

}  // namespace

RequestState::RequestState(RequestId id, Request request, Sink sink, const Tokenizer& tokenizer,
                           int vocab, int context)
    : id_(id),
      request_(std::move(request)),
      sink_(std::move(sink)),
      vocab_(vocab),
      context_(context),
      seed_(resolve_seed(request_.sampling)),
      detokenizer_(tokenizer, {.show_control = request_.shows_control}),
      stops_(request_.stop_strings) {
  check();
  sampler_state_ = request_.sampler_state.value_or(initial_state(request_.sampling));
  ends_ = request_.stop_ids;
  if (!request_.ignores_end) {
    const std::span<const TokenId> ends = tokenizer.end_of_generation();
    ends_.insert(ends_.end(), ends.begin(), ends.end());
  }
  std::sort(ends_.begin(), ends_.end());
  sequence_.id = id;
  sequence_.tokens = std::move(request_.tokens);
  sequence_.prompt_tokens = sequence_.size() - request_.resumed_tokens;
  sequence_.cache_salt = request_.cache_salt;
  sequence_.client = request_.client;
  sequence_.priority = request_.priority;
  if (request_.prompt_logprobs >= 0) {
    sequence_.logits = LogitsRows::all;
    prompt_logprobs_.emplace(request_.prompt_logprobs);
  }
  if (request_.guidance.is_on()) start_guidance();
  replay();
}

void RequestState::start_guidance() {
  std::vector<TokenId> tokens = std::move(request_.guidance.negative_tokens);
  tokens.insert(tokens.end(), sequence_.tokens.begin() + sequence_.prompt_tokens,
                sequence_.tokens.end());
  negative_.emplace(id_, std::move(tokens), request_.resumed_tokens, request_.guidance.scale);
  negative_->sequence().cache_salt = request_.cache_salt;
  sequence_.companion = &negative_->sequence();
}

void RequestState::check() const {
  check_params(request_.sampling, vocab_);
  const std::vector<TokenId>& tokens = request_.tokens;
  const auto size = static_cast<int64_t>(tokens.size());
  if (request_.resumed_tokens < 0 || request_.resumed_tokens >= size) {
    fail(ErrorCode::bad_input,
         "a request of {} tokens of which {} are earlier output: expected a prompt of at least one "
         "token",
         size, request_.resumed_tokens);
  }
  const bool wants_answer = request_.max_tokens != 0;
  check_prompt("prompt", tokens, vocab_, context_ + (wants_answer ? 0 : 1));
  check_guidance(request_.guidance);
  check_prompt("negative prompt", request_.guidance.negative_tokens, vocab_, context_,
               request_.resumed_tokens);
  if (request_.max_tokens < 0) {
    fail(ErrorCode::bad_input, "max_tokens is {}, expected 0 or more", request_.max_tokens);
  }
  if (request_.min_tokens < 0 || request_.min_tokens > request_.max_tokens) {
    fail(ErrorCode::bad_input, "min_tokens is {}, expected 0 to max_tokens, which is {}",
         request_.min_tokens, request_.max_tokens);
  }
  for (const TokenId stop : request_.stop_ids) {
    if (stop >= 0 && stop < vocab_) continue;
    fail(ErrorCode::usage, "stop id {} is outside the vocabulary, expected 0 to {}", stop,
         vocab_ - 1);
  }
  if (request_.prompt_logprobs < -1 || request_.prompt_logprobs > kMaxLogprobs) {
    fail(ErrorCode::bad_input, "prompt_logprobs is {}, expected -1 to {}", request_.prompt_logprobs,
         kMaxLogprobs);
  }
  if (request_.prompt_logprobs >= 0 && request_.guidance.is_on()) {
    fail(ErrorCode::bad_input, "there are no prompt_logprobs under guidance");
  }
}

// Brings text and stop strings to where the prompt or the earlier request left them.
void RequestState::replay() {
  // Whether the answer's first space is text depends on what the prompt ends with.
  detokenizer_.push_bytes(sequence_.tokens[static_cast<size_t>(sequence_.prompt_tokens) - 1]);
  size_t pushed = 0, returned = 0;
  for (int i = sequence_.prompt_tokens; i < sequence_.size(); ++i) {
    const std::string_view bytes =
        detokenizer_.push_bytes(sequence_.tokens[static_cast<size_t>(i)]);
    pushed += bytes.size();
    returned += stops_.push(bytes).size();
  }
  shown_ahead_ = pushed - returned;
}

bool RequestState::is_stop_token(TokenId token) const {
  return std::binary_search(ends_.begin(), ends_.end(), token);
}

FinishReason RequestState::finish_of_length() const {
  const int longest = std::max(sequence_.size(), negative_ ? negative_->sequence().size() : 0);
  const bool is_full = output_tokens() >= request_.max_tokens || longest >= context_;
  return is_full ? FinishReason::length : FinishReason::none;
}

FinishReason RequestState::finish_at_start() const {
  const bool has_stopped =
      stops_.stop() || (request_.resumed_tokens > 0 && is_stop_token(sequence_.tokens.back()));
  if (has_stopped) return FinishReason::stop;
  return prompt_logprobs_ ? FinishReason::none : finish_of_length();
}

History RequestState::history() const {
  History result{.tokens = sequence_.tokens,
                 .prompt_tokens = static_cast<size_t>(sequence_.prompt_tokens),
                 .state = sampler_state_};
  if (output_tokens() < request_.min_tokens) result.forbidden = ends_;
  return result;
}

bool RequestState::take_logits(const Run& run, const StepResult& rows) {
  if (run.logits == LogitsRows::all) prompt_logprobs_->take(run.first, rows);
  if (run.first + run.count < run.sequence->size()) return true;  // rows of the prompt alone
  logits_ = {rows.row(rows.rows - 1), static_cast<size_t>(vocab_)};
  return !negative_ || negative_->take(*run.sequence, logits_);
}

void RequestState::sample(Sampler& sampler) noexcept {
  const SampleKey key{.seed = seed_,
                      .choice = request_.choice,
                      .position = static_cast<uint32_t>(sequence_.size())};
  try {
    if (prompt_logprobs_ && prompt_logprobs_->has_rows()) {
      const auto prompt = static_cast<size_t>(sequence_.prompt_tokens);
      prompt_logprobs_->compute(std::span(sequence_.tokens).first(prompt), vocab_, sampler);
    }
    if (logits_.empty() || finish_of_length() != FinishReason::none) return;
    if (negative_) logits_ = negative_->combine();
    sample_ = sampler.sample(logits_, request_.sampling, key, history());
  } catch (const Error& error) {
    sample_error_ = error;
  } catch (const std::exception& error) {
    sample_error_ = Error(ErrorCode::failed, error.what());
  }
}

FinishReason RequestState::advance() {
  if (sample_error_) {
    finish(FinishReason::error, sample_error_->what(), sample_error_->code());
    return FinishReason::error;
  }
  if (logits_.empty()) return FinishReason::none;  // there is more of the prompt
  logits_ = {};
  sequence_.logits = LogitsRows::last;
  TokenEvent event;
  if (prompt_logprobs_) event.prompt_logprobs = prompt_logprobs_->hand_out();
  event.finish = finish_of_length();
  if (event.finish == FinishReason::none) {
    sampler_state_ = sample_.state;
    event.tokens = {sample_.token};
    if (sample_.logprobs) event.logprobs.push_back(std::move(*sample_.logprobs));
    if (first_token_ == Clock::time_point{}) first_token_ = Clock::now();
    event.finish = accept(sample_.token, event.text);
  }
  const FinishReason reason = event.finish;
  if (reason != FinishReason::none) event.summary = summary();
  send(std::move(event));
  return is_sink_broken_ ? FinishReason::cancelled : reason;
}

FinishReason RequestState::accept(TokenId token, std::string& text) {
  sequence_.tokens.push_back(token);
  if (negative_) negative_->append(token);
  FinishReason reason = FinishReason::stop;
  if (!is_stop_token(token)) {
    text = unseen(stops_.push(detokenizer_.push_bytes(token)));
    if (!stops_.stop()) reason = finish_of_length();
  }
  // What looked like a stop string turned out to be text.
  if (reason != FinishReason::none && !stops_.stop()) text += unseen(stops_.finish());
  return reason;
}

// Without the bytes that belong to resumed tokens.
std::string RequestState::unseen(std::string text) {
  const size_t seen = std::min(shown_ahead_, text.size());
  shown_ahead_ -= seen;
  text.erase(0, seen);
  return text;
}

void RequestState::finish(FinishReason reason, std::string error, ErrorCode code) {
  send({.finish = reason, .summary = summary(), .error = std::move(error), .error_code = code});
  flush();
}

void RequestState::send(TokenEvent event) {
  if (is_sink_broken_) return;
  event.request = id_;
  try {
    sink_.send(std::move(event));
  } catch (const std::exception&) {
    is_sink_broken_ = true;  // nobody listens any more
  }
}

void RequestState::flush() {
  if (is_sink_broken_ || !sink_.flush) return;
  try {
    sink_.flush();
  } catch (const std::exception&) {
    is_sink_broken_ = true;
  }
}

RequestSummary RequestState::summary() const {
  RequestSummary result{.seed = seed_,
                        .prompt_tokens = sequence_.prompt_tokens,
                        .cached_tokens = sequence_.cached_tokens,
                        .output_tokens = output_tokens(),
                        .stop_string = stops_.stop(),
                        .sampler_state = sampler_state_,
                        .preemptions = sequence_.preemptions};
  const Clock::time_point now = Clock::now();
  const auto or_now = [&](Clock::time_point time) {
    return time == Clock::time_point{} ? now : time;
  };
  const Clock::time_point started =
      sequence_.started_us < 0 ? now
                               : Clock::time_point(std::chrono::microseconds(sequence_.started_us));
  const Clock::time_point first = or_now(first_token_);
  // Rounded to microseconds, the start may seem to lie before the submission.
  result.queue_us = std::max<int64_t>(0, microseconds(started - submitted_));
  result.prompt_us = microseconds(first - started);
  result.decode_us = microseconds(now - first);
  return result;
}

}  // namespace arion
