// Gumbel noise from a counter, and the token it chooses.
//
// u is the first word of Philox4x32-10 with key (seed low, seed high) and counter (position, token,
// choice, purpose); v = (u + 0.5) * 2^-32; the noise is -log(-log1p(-v)) in fp64, rounded to fp32.
// The argmax of l/T + noise is a sample of softmax(l/T), without any generator state.
#pragma once
#include <cstdint>
#include <span>

#include "sample/candidates.h"

namespace arion {

enum class NoisePurpose : uint32_t { token = 0 };

// Which draw: everything the noise depends on except the token.
struct SampleKey {
  uint64_t seed = 0;
  uint32_t choice = 0;    // index among the n answers of a request
  uint32_t position = 0;  // index of the sampled token in prompt + output
};

float gumbel_noise(const SampleKey& key, NoisePurpose purpose, TokenId token);

// argmax of l / T + noise over the row, ties to the lowest id. temperature > 0; `peak` is
// find_peak(logits).
TokenId gumbel_argmax(std::span<const float> logits, const Peak& peak, float temperature,
                      const SampleKey& key);
// The same over some of the row's tokens (at least one), in any order.
TokenId gumbel_argmax(std::span<const Candidate> candidates, float temperature,
                      const SampleKey& key);

}  // namespace arion
