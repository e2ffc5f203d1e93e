#include "capi/status.h"

#include <string>

namespace arion {
namespace {

thread_local std::string error_text;
thread_local const char* error_shown = "";

}  // namespace

void set_last_error(const char* message) noexcept {
  try {
    error_text = message;
    error_shown = error_text.c_str();
  } catch (...) {
    error_shown = "there is not enough memory for the text of an error";
  }
}

const char* last_error() noexcept {
  return error_shown;
}

}  // namespace arion
