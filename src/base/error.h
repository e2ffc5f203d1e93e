// The one exception type of the library: loading, parsing and configuration problems.
#pragma once
#include <fmt/format.h>

#include <exception>
#include <string>
#include <utility>

namespace arion {

// Values are the exit codes of the command line.
enum class ErrorCode : int {
  failed = 1,      // the machine or a resource could not do it
  usage = 2,       // the caller asked for something that does not exist
  bad_input = 3,   // a file, prompt or request is malformed or hostile
  overloaded = 4,  // too much waits already; the same request may succeed later
};

class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}
  ErrorCode code() const { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorCode code_;
  std::string message_;
};

template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace arion
