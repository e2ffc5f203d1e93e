// A request inside the engine: its sequence, sampling key, text and times.
#pragma once
#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "engine/negative_prompt.h"
#include "engine/prompt_logprobs.h"
#include "engine/queue_bounds.h"
#include "engine/request.h"
#include "sample/sampler.h"
#include "text/detokenizer.h"
#include "text/stop_matcher.h"

namespace arion {

using Clock = std::chrono::steady_clock;

// Made by the thread that submits, then used by the engine's thread alone.
class RequestState {
 public:
  // Throws Error{bad_input} or Error{usage} naming what is wrong with the request. `vocab` and
  // `context` (of each sequence) are in tokens; the tokenizer must outlive the state.
  RequestState(RequestId id, Request request, Sink sink, const Tokenizer& tokenizer, int vocab,
               int context);

  RequestId id() const { return id_; }
  // Under guidance it has a companion.
  Sequence& sequence() { return sequence_; }

  // Whether the tokens given already are a whole answer.
  FinishReason finish_at_start() const;
  // Holds its place in the queue until its first step, or its end.
  void wait_in(QueueBounds::Place place) { place_.emplace(std::move(place)); }
  void leave_queue() { place_.reset(); }

  // Takes the logits of a run of one of its sequences; they must stay until they are sampled.
  // Returns whether there is something to sample now.
  bool take_logits(const Run& run, const StepResult& rows);
  // Chooses a token by the logits taken. Different requests may do so at the same time.
  void sample(Sampler& sampler) noexcept;
  bool has_expired(Clock::time_point now) const {
    return request_.deadline && now >= *request_.deadline;
  }
  // Appends what sample() chose, if it did, and sends the event, to be flushed. Returns whether
  // that was the end. An unusable row ends the request with an error.
  FinishReason advance();
  // Flushes what was sent. Never throws.
  void flush();
  // Sends and flushes the last event of a request that ends outside advance(). Never throws.
  void finish(FinishReason reason, std::string error = {}, ErrorCode code = ErrorCode::failed);

 private:
  History history() const;
  void check() const;
  void start_guidance();
  void replay();
  bool is_stop_token(TokenId token) const;
  int output_tokens() const { return sequence_.size() - sequence_.prompt_tokens; }
  FinishReason finish_of_length() const;
  FinishReason accept(TokenId token, std::string& text);
  std::string unseen(std::string text);
  void send(TokenEvent event);
  RequestSummary summary() const;

  RequestId id_;
  Request request_;
  Sink sink_;
  int vocab_, context_;  // tokens
  uint64_t seed_;
  SamplerState sampler_state_;  // after the last token
  Sample sample_;               // the next one
  std::optional<Error> sample_error_;
  std::vector<TokenId> ends_;  // tokens that end the answer
  Sequence sequence_;
  std::optional<QueueBounds::Place> place_;
  std::optional<NegativePrompt> negative_;  // under guidance
  std::optional<PromptLogprobs> prompt_logprobs_;
  std::span<float> logits_;  // after the last token; none: only rows of the prompt were taken
  Detokenizer detokenizer_;
  StopMatcher stops_;
  size_t shown_ahead_ = 0;  // bytes held back by stops_ that belong to resumed tokens
  bool is_sink_broken_ = false;
  Clock::time_point submitted_ = Clock::now(), first_token_{};
};

}  // namespace arion
