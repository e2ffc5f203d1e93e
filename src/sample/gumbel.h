// Gumbel noise from a counter, and the token it chooses.
//
// u is the first word of Philox4x32-10 with key (seed low, seed high) and counter (position, token,
// choice, purpose); v = (u + 0.5) * 2^-32; the noise is -log(-log1p(-v)) in fp64, rounded to fp32.
// The argmax of (l - peak)/T + noise is a sample of softmax(l/T), without any generator state.
#pragma once
#include <cstdint>
#include <span>

#include "sample/candidates.h"

namespace arion {

enum class NoisePurpose : uint32_t { token = 0, xtc = 1 };

// Which draw: everything the noise depends on except the token.
struct SampleKey {
  uint64_t seed = 0;
  uint32_t choice = 0;    // index among the n answers of a request
  uint32_t position = 0;  // index of the sampled token in prompt + output
};

float gumbel_noise(const SampleKey& key, NoisePurpose purpose, TokenId token);

// argmax of (l - peak) / T + noise over the allowed tokens of the row, ties to the lowest id, with
// peak the largest logit and temperature > 0.
TokenId gumbel_argmax(const ScannedRow& row, float temperature, const SampleKey& key);
// The same over some tokens (at least one, of which `peak` is the largest logit), in any order.
TokenId gumbel_argmax(std::span<const Candidate> candidates, float peak, float temperature,
                      const SampleKey& key);

// A number in (0, 1) for decisions that concern no single token.
double uniform(const SampleKey& key, NoisePurpose purpose);

}  // namespace arion
