// What a client asks of the engine, and what it hears back.
#pragma once
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sample/logprobs.h"
#include "sample/sampler_state.h"
#include "sequence/sampling_params.h"
#include "sequence/sequence.h"

namespace arion {

using RequestId = uint64_t;

// Classifier-free guidance: the answer is pushed away from what it would be after another prompt,
// see sample/guidance.h. Costs a second sequence. Log probabilities are those of the guided logits.
struct GuidanceParams {
  std::vector<TokenId> negative_tokens;  // the other prompt, at least one token
  float scale = 1;                       // 0 to 100; 1 = off, without a negative prompt as well

  bool is_on() const { return scale != 1; }
};

struct Request {
  // The prompt; then perhaps output of an earlier request, to be continued as if there had been no
  // break (with the same sampling parameters, seed and choice).
  std::vector<TokenId> tokens;
  // How many of the last tokens are such output; their text counts as shown.
  int resumed_tokens = 0;
  int max_tokens = std::numeric_limits<int>::max();  // of output, resumed tokens included
  int min_tokens = 0;  // no end-of-generation token and no stop id before so many of output
  SamplingParams sampling;
  GuidanceParams guidance;
  // Of the end of an earlier request whose output is resumed; else absent.
  std::optional<SamplerState> sampler_state;
  uint32_t choice = 0;  // index among several answers to one prompt
  std::vector<std::string> stop_strings;
  std::vector<TokenId> stop_ids;  // besides the model's end-of-generation tokens
  bool ignores_end = false;       // end-of-generation tokens are tokens like any other
  bool shows_control = false;     // control tokens are part of the text
  // -1: none; n >= 0: of every prompt token but the first, with the n largest. Such a prompt is
  // computed from its beginning. Not under guidance.
  int prompt_logprobs = -1;
  // A prefix computed for others is used only if they had the same salt.
  std::string cache_salt;
  std::string client;  // of engines that share among clients
  int priority = 0;    // of engines with priorities: the least goes first
  std::optional<std::chrono::steady_clock::time_point> deadline;  // ends as if cancelled then
};

enum class FinishReason : uint8_t {
  none,       // more will come
  stop,       // a stop token or stop string
  length,     // max_tokens or the end of the context
  cancelled,  // by the client, or because the engine shut down
  error,      // see TokenEvent::error
};

// "stop", "length", ... as clients of HTTP interfaces know them.
constexpr const char* finish_reason_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::none:
      return "";
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::cancelled:
      return "cancelled";
    case FinishReason::error:
      return "error";
  }
  return "?";
}

// What is known of a request when it ends.
struct RequestSummary {
  uint64_t seed = 0;                  // of the request, or the one drawn for it
  int prompt_tokens = 0;              // resumed tokens not included
  int cached_tokens = 0;              // of the prompt that need not be computed
  int output_tokens = 0;              // resumed and stop tokens included
  std::optional<size_t> stop_string;  // index of the one that was found
  SamplerState sampler_state;         // to resume with
  int preemptions = 0;
  int64_t queue_us = 0;   // from submit to the first step
  int64_t prompt_us = 0;  // from the first step to the first token
  int64_t decode_us = 0;  // from the first token to the end
};

struct TokenEvent {
  RequestId request = 0;
  std::vector<TokenId> tokens;  // new output, a stop token included
  // New bytes of the answer, perhaps ending within a character. Stop tokens and stop strings are no
  // part of it; what may be the start of a stop string is held back until that is decided.
  std::string text;
  std::vector<TokenLogprobs> logprobs;  // one per token if the request asks for them
  // Once, if the request asks for them: of the prompt tokens 1, 2, ...
  std::vector<TokenLogprobs> prompt_logprobs;
  FinishReason finish = FinishReason::none;
  RequestSummary summary;  // when finish is not none
  std::string error;       // when finish is error
  ErrorCode error_code = ErrorCode::failed;
};

// Where the events of a request go. Both functions are called on the engine's thread, so they must
// be quick and not wait. A sink that throws cancels its request.
struct Sink {
  template <std::invocable<TokenEvent> Send>
  Sink(Send sends, std::function<void()> flushes = {})
      : send(std::move(sends)), flush(std::move(flushes)) {}

  std::function<void(TokenEvent)> send;  // the event with finish != none is the last
  // Called behind all events of a step: the time to wake who waits for them, once. May be empty.
  std::function<void()> flush;
};

}  // namespace arion
