// Scales and codes of the formats on the companding curve CodeTable::iq4; byte for byte ggml's.
#pragma once
#include <cstdint>
#include <span>

#include "quant/quad.h"

namespace arion {

// Scales (of either sign) with the least weighted squared error when x is rounded to scale times
// the values of the curve; 0 for a zero group. One group of at most 32 values in each lane.
Quad fit_iq4(std::span<const Quad> x, std::span<const Quad> weights);

// The codes whose values are nearest to x / scale; a zero scale gives those nearest to zero.
void round_to_iq4(std::span<const Quad> x, Quad scale, Quad* codes);

// The weights of errors: importance, and with it `spread` (twice the mean square of the block), or
// x^2 without.
void weigh_iq4(std::span<const Quad> x, const float* importance, int count, Quad spread,
               Quad* weights);

}  // namespace arion
