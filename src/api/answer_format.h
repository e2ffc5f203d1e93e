// How a dialect spells answers: one object per HTTP request.
#pragma once
#include <algorithm>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/choice.h"

namespace arion {

// Used by one thread. It remembers how far the texts of a stream have come.
class AnswerFormat {
 public:
  virtual ~AnswerFormat() = default;
  // One event of a stream, with `usage` if there is one.
  virtual std::string chunk(ChoiceNews news, const Usage* usage) = 0;
  // The event of a stream that has only usage.
  virtual std::string usage_chunk(const Usage& usage) = 0;
  // The whole response. `answers` are complete and in the order of their indices.
  virtual std::string whole(std::vector<ChoiceNews> answers, const Usage& usage) = 0;
};

struct AnswerHead {
  std::string id;       // behind "cmpl-" or "chatcmpl-"
  std::string model;    // its name
  int64_t created = 0;  // Unix time
  uint64_t seed = 0;    // of all choices
};

// The request and tokenizer must outlive the format.
std::unique_ptr<AnswerFormat> make_completion_format(const GenerationRequest& request,
                                                     const Tokenizer& tokenizer, AnswerHead head);
std::unique_ptr<AnswerFormat> make_chat_format(const GenerationRequest& request,
                                               const Tokenizer& tokenizer, AnswerHead head);

// With a random id, and now as the time.
std::unique_ptr<AnswerFormat> make_answer_format(Dialect dialect, const GenerationRequest& request,
                                                 const ServedModel& model);
// Different at every call.
std::string random_id();

// Parts that the formats share.
nlohmann::ordered_json usage_json(const Usage& usage);
nlohmann::ordered_json finish_json(FinishReason reason);
nlohmann::ordered_json stop_reason_json(const ChoiceNews& news, const GenerationRequest& request);
// Of every prompt token, null for the first: {id: {logprob, rank, decoded_token}, ...} with the
// token itself before its rivals.
nlohmann::ordered_json prompt_logprobs_json(const ChoiceNews& news,
                                            const GenerationRequest& request,
                                            const Tokenizer& tokenizer);
// An engine may have been asked for more than one list shows.
inline std::span<const TokenLogprob> first_of(std::span<const TokenLogprob> top, int count) {
  return top.first(std::min(top.size(), static_cast<size_t>(std::max(count, 0))));
}
// In one line, with U+FFFD for what is no UTF-8.
std::string dump_json(const nlohmann::ordered_json& value);
// `envelope` ends with an empty list of choices. Its text before them is the same in all chunks of
// a stream.
std::string chunk_head(const nlohmann::ordered_json& envelope);
std::string chunk_text(std::string_view head, const nlohmann::ordered_json& choice,
                       const Usage* usage);

}  // namespace arion
