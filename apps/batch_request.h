// Requests of OpenAI's Batch API, one per line of a file:
//   {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {...}}
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/generation_request.h"

namespace arion::app {

struct BatchRequest {
  std::string custom_id;
  Dialect dialect = Dialect::completion;
  std::string_view body;  // JSON, within the text that was parsed
};

// All requests of a file. Throws Error{bad_input} naming the line for what is no request, and for
// an id that occurs twice; empty lines are skipped.
std::vector<BatchRequest> parse_batch(std::string_view text);

// The seed of a request that gives none: a function of its id, so that a batch has the same answers
// however often it is interrupted, and whatever runs beside it. 53 bits.
uint64_t seed_of(std::string_view custom_id);

}  // namespace arion::app
