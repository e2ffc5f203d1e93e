// An error as clients of the API see it.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"

namespace arion {

// The request's fault unless `status` says otherwise.
class ApiError : public Error {
 public:
  ApiError(int status, std::string type, std::string message, std::string param = {},
           std::string code = {})
      : Error(ErrorCode::bad_input, std::move(message)),
        status(status),
        type(std::move(type)),
        param(std::move(param)),
        code_text(std::move(code)) {}

  struct ContextSize {
    int64_t prompt_tokens, context_tokens;
  };

  int status;             // of HTTP
  std::string type;       // a class of errors, such as BadRequestError
  std::string param;      // the field that is wrong; empty: none
  std::string code_text;  // for programs, such as context_length_exceeded; empty: the status
  std::optional<ContextSize> context;  // of prompts that are too long
};

// 400 for the field `param`.
template <typename... Args>
[[noreturn]] void refuse(std::string_view param, fmt::format_string<Args...> format,
                         Args&&... args) {
  throw ApiError(400, "BadRequestError", fmt::format(format, std::forward<Args>(args)...),
                 std::string(param));
}

// {"error": {message, type, param, code}} in one line.
std::string to_json(const ApiError& error);
// How an error of the library looks from outside: the client's fault, a full queue, or ours.
ApiError to_api_error(const Error& error);

}  // namespace arion
