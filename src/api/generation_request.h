// What an HTTP request for answers asks for: prompts, and how each is to be answered.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "api/fields.h"
#include "api/json_text.h"
#include "api/served_model.h"
#include "engine/request.h"

namespace arion {

// Choices of one HTTP request at most, all prompts together.
inline constexpr size_t kMaxChoices = 1024;
// Log probabilities per token at most: each is text in the answer.
inline constexpr int64_t kMaxServedLogprobs = 128;

struct Prompt {
  std::vector<TokenId> tokens;
  std::string text;  // as given; empty in requests that do not echo it
};

struct GenerationRequest {
  std::vector<Prompt> prompts;
  int n = 1;         // answers to each
  Request settings;  // of every engine request: all but tokens and choice
  bool streams = false;
  bool includes_usage = false;    // a chunk with usage ends the stream
  bool continuous_usage = false;  // usage in every chunk
  bool echoes = false;            // the prompt goes before its answer
  bool includes_stop = false;     // the stop string is part of the answer
  int prompt_logprobs = -1;       // in a list of their own, with so many rivals; -1: none
  bool spells_token_ids = false;  // tokens of log probabilities as "token_id:5"
  bool returns_token_ids = false;

  // Choices are counted over all prompts: n of the first, then n of the second, ...
  size_t choices() const { return prompts.size() * static_cast<size_t>(n); }
  const Prompt& prompt_of(size_t choice) const { return prompts[choice / static_cast<size_t>(n)]; }
  // What the engine is asked for one of them.
  Request engine_request(size_t choice) const;
};

// What all dialects of OpenAI's interface share: sampling, stops, stream and n. Throws ApiError for
// fields that are wrong or ask for what this server cannot do.
GenerationRequest read_generation(const Fields& fields, const ServedModel& model);

// 404 unless the request names the served model or none.
void check_model_name(const Fields& fields, const ServedModel& model);

// Shortens the prompt if the request says so (truncate_prompt_tokens), then checks that it leaves
// room for an answer, if one is wanted, and is of the vocabulary.
void fit_prompt(const Fields& fields, const ServedModel& model, int max_tokens,
                std::vector<TokenId>& tokens);

enum class Dialect : uint8_t { completion, chat };

// Bodies of POST /v1/completions and /v1/chat/completions.
GenerationRequest parse_completion(const JsonObject& body, const ServedModel& model);
GenerationRequest parse_chat(const JsonObject& body, const ServedModel& model);
inline GenerationRequest parse_generation(Dialect dialect, const JsonObject& body,
                                          const ServedModel& model) {
  return dialect == Dialect::chat ? parse_chat(body, model) : parse_completion(body, model);
}

// The prompt that the chat template makes of a body with messages.
Prompt render_messages(const JsonObject& body, const ServedModel& model);

}  // namespace arion
