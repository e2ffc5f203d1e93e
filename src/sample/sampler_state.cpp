// The state's beginning, and its bytes.
#include "sample/sampler_state.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"

namespace arion {

SamplerState initial_state(const SamplingParams& params) {
  SamplerState state{.mirostat_mu = 2 * params.mirostat.tau};
  if (params.adaptive.is_on()) {
    state.adaptive_weight = 1 / (1 - params.adaptive.decay);
    state.adaptive_sum = params.adaptive.target * state.adaptive_weight;
  }
  return state;
}

SamplerStateBytes encode_state(const SamplerState& state) {
  SamplerStateBytes bytes;
  size_t at = 0;
  for (const float number : {state.mirostat_mu, state.adaptive_sum, state.adaptive_weight}) {
    const uint32_t bits = std::bit_cast<uint32_t>(number);
    for (int shift = 0; shift < 32; shift += 8) bytes[at++] = static_cast<uint8_t>(bits >> shift);
  }
  return bytes;
}

SamplerState decode_state(std::span<const uint8_t> bytes) {
  if (bytes.size() != sizeof(SamplerStateBytes)) {
    fail(ErrorCode::bad_input, "a sampler state of {} bytes, expected {}", bytes.size(),
         sizeof(SamplerStateBytes));
  }
  std::array<float, 3> numbers;
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint32_t bits = 0;
    for (size_t b = 0; b < 4; ++b) bits |= uint32_t{bytes[4 * i + b]} << (8 * b);
    numbers[i] = std::bit_cast<float>(bits);
  }
  const auto [mu, sum, weight] = numbers;
  if (!std::isfinite(mu) || !std::isfinite(sum) || !std::isfinite(weight) || sum < 0 ||
      weight < 0) {
    fail(
        ErrorCode::bad_input,
        "a sampler state of mu {}, sum {} and weight {}, expected finite numbers, the last two not "
        "negative",
        mu, sum, weight);
  }
  return {.mirostat_mu = mu, .adaptive_sum = sum, .adaptive_weight = weight};
}

}  // namespace arion
