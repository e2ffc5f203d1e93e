// One answer as it grows: events of the engine in, whole characters and log probabilities out.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/generation_request.h"
#include "engine/request.h"
#include "text/utf8_assembler.h"

namespace arion {

// What of an answer has not been sent yet.
struct ChoiceNews {
  size_t index = 0;       // of the choice: prompt * n + number of the answer to it
  bool is_first = false;  // of this answer
  std::string text;       // well-formed UTF-8
  std::vector<TokenId> tokens;
  std::vector<TokenLogprobs> logprobs;         // one per token if asked for
  std::vector<TokenLogprobs> prompt_logprobs;  // of the prompt's tokens 1, 2, ... if asked for
  FinishReason finish = FinishReason::none;
  std::optional<size_t> stop_string;  // which one ended the answer
  std::optional<TokenId> stop_token;  // which of the request's stop ids did

  bool is_empty() const { return text.empty() && logprobs.empty() && finish == FinishReason::none; }
};

struct Usage {
  int64_t prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0;
};

// Not thread-safe. The request must outlive it.
class Choice {
 public:
  Choice(const GenerationRequest& request, const Tokenizer& tokenizer, size_t index);

  void add(TokenEvent event);
  // Whether there is something to send.
  bool has_news() const { return has_begun_ && !news_.is_empty(); }
  ChoiceNews take();
  // Bytes that wait to be sent, roughly.
  size_t pending_bytes() const;

  size_t index() const { return index_; }
  bool is_finished() const { return finish_ != FinishReason::none; }
  FinishReason finish() const { return finish_; }
  const std::string& error() const { return error_; }
  const RequestSummary& summary() const { return summary_; }
  int64_t tokens() const { return tokens_; }  // of the answer so far, a stop token included

 private:
  void end(TokenEvent event);

  const GenerationRequest& request_;
  const Tokenizer& tokenizer_;
  size_t index_;
  Utf8Assembler assembler_;
  ChoiceNews news_;
  bool has_begun_ = false;  // an event has come
  TokenId last_token_ = -1;
  int64_t tokens_ = 0;
  FinishReason finish_ = FinishReason::none;
  std::string error_;
  RequestSummary summary_;
};

// All of a request, by index. The request must outlive them.
std::vector<Choice> make_choices(const GenerationRequest& request, const Tokenizer& tokenizer);

// Of a request so far; `choices` are all of it.
Usage total_usage(const GenerationRequest& request, std::span<const Choice> choices);

}  // namespace arion
