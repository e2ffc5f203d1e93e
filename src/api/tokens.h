// POST /tokenize and /detokenize.
#pragma once
#include <string>

#include "api/json_text.h"
#include "api/served_model.h"

namespace arion {

// Bodies of responses, in JSON, for bodies of requests. Throw ApiError.
std::string answer_tokenize_body(const JsonObject& body, const ServedModel& model);
std::string answer_detokenize_body(const JsonObject& body, const ServedModel& model);

}  // namespace arion
