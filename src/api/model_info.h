// What /v1/models and /tokenizer_info say of the model.
#pragma once
#include <string>
#include <string_view>

#include "api/served_model.h"

namespace arion {

// Bodies of responses, in JSON.
std::string list_models(const ServedModel& model);
// Throws ApiError 404 for another name.
std::string describe_model_card(const ServedModel& model, std::string_view name);
std::string describe_tokenizer(const ServedModel& model);

}  // namespace arion
