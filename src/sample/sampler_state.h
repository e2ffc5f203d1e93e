// What sampling remembers from token to token, as a value.
//
// Only mirostat and adaptive-p need it; penalties, DRY and bad words read the tokens themselves,
// and noise comes from a counter. Copying a state forks an answer, keeping the old one takes a
// token back.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "sequence/sampling_params.h"

namespace arion {

struct SamplerState {
  float mirostat_mu = 0;      // limit of the surprise in bits
  float adaptive_sum = 0;     // probabilities of chosen tokens, older ones decayed
  float adaptive_weight = 0;  // the same sum with each probability 1

  bool operator==(const SamplerState&) const = default;
};

// mu is 2 tau; the average of adaptive-p is at its target, as if it had always been.
SamplerState initial_state(const SamplingParams& params);

// The three numbers as little-endian fp32 in their order.
using SamplerStateBytes = std::array<uint8_t, 12>;
SamplerStateBytes encode_state(const SamplerState& state);
// Throws Error{bad_input} unless there are 12 bytes with three finite numbers, weights not
// negative.
SamplerState decode_state(std::span<const uint8_t> bytes);

}  // namespace arion
