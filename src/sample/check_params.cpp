// Refuses parameters outside their ranges with a message that names the range.
#include "sample/check_params.h"

#include <string_view>

#include "base/error.h"

namespace arion {
namespace {

template <typename T>
void check_range(std::string_view name, T value, T low, T high) {
  if (value >= low && value <= high) return;  // NaN fails both
  fail(ErrorCode::bad_input, "{} is {}, expected a number from {} to {}", name, value, low, high);
}

}  // namespace

void check_params(const SamplingParams& params) {
  check_range("temperature", params.temperature, 0.0f, kMaxTemperature);
  check_range("top_p", params.top_p, 0.0f, 1.0f);
  check_range("min_p", params.min_p, 0.0f, 1.0f);
  check_range("logprobs", params.logprobs, -1, kMaxLogprobs);
  if (params.top_k < -1) {
    fail(ErrorCode::bad_input, "top_k is {}, expected 1 or more, or 0 or -1 for no limit",
         params.top_k);
  }
}

}  // namespace arion
