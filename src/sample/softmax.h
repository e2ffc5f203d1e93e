// Softmax over the vocabulary with one result on every machine.
//
// The sum of a row: absolute chunks of 4096 ids; within a chunk 16 lanes (id mod 16) add by
// ascending id in fp32 and are folded by halves; chunks are added in order in fp64. The
// exponential is a polynomial without fused operations, so that every instruction set agrees.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace arion {

// e^x for x <= 0 within 2 units in the last place; 0 from -87 down.
float exp_nonpositive(float x);

// Sum over the row of e^((l - peak) / temperature) with peak its largest logit.
double sum_exp(std::span<const float> logits, float peak, float temperature);

// The same, and the summands.
double sum_exp(std::span<const float> logits, float peak, float temperature,
               std::vector<float>& summands);

// With x = (l - peak) / temperature, in the same order: how many l are above -infinity, the sum of
// e^x, and the sum of x e^x.
struct ExpMoments {
  size_t count = 0;
  double sum = 0, weighted = 0;
};
ExpMoments sum_exp_moments(std::span<const float> logits, float peak, float temperature);

}  // namespace arion
