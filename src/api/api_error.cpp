#include "api/api_error.h"

#include <nlohmann/json.hpp>

namespace arion {

using nlohmann::ordered_json;

std::string to_json(const ApiError& error) {
  ordered_json body{{"message", error.what()}, {"type", error.type}};
  body["param"] = error.param.empty() ? ordered_json() : ordered_json(error.param);
  body["code"] =
      error.code_text.empty() ? ordered_json(error.status) : ordered_json(error.code_text);
  if (error.context) {
    body["n_prompt_tokens"] = error.context->prompt_tokens;
    body["n_ctx"] = error.context->context_tokens;
  }
  return ordered_json{{"error", std::move(body)}}.dump(-1, ' ', false,
                                                       ordered_json::error_handler_t::replace);
}

ApiError to_api_error(const Error& error) {
  switch (error.code()) {
    case ErrorCode::usage:
    case ErrorCode::bad_input:
      return {400, "BadRequestError", error.what()};
    case ErrorCode::overloaded:
      return {503, "ServiceUnavailableError", error.what(), "", "overloaded"};
    case ErrorCode::failed:
      break;
  }
  return {500, "InternalServerError", error.what()};
}

}  // namespace arion
