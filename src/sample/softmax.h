// Softmax over the vocabulary with one result on every machine.
//
// The sum of a row: absolute chunks of 4096 ids; within a chunk 16 lanes (id mod 16) add by
// ascending id in fp32 and are folded by halves; chunks are added in order in fp64. The
// exponential is a polynomial without fused operations, so that every instruction set agrees.
#pragma once
#include <span>
#include <vector>

namespace arion {

// e^x for x <= 0 within 2 units in the last place; 0 from -87 down.
float exp_nonpositive(float x);

// Sum over the row of e^((l - peak) / temperature) with peak its largest logit.
double sum_exp(std::span<const float> logits, float peak, float temperature);

// The same at temperature 1, and the summands.
double sum_exp(std::span<const float> logits, float peak, std::vector<float>& summands);

}  // namespace arion
