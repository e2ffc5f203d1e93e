// Rotation frequencies of a model, resolved once at load.
#pragma once
#include <span>

#include "graph/graph.h"
#include "model/config.h"

namespace arion {

// `dims` rotated elements per head make dims / 2 pairs; `divisors` [dims / 2] (llama3 and longrope
// factors of the file), may be empty. Source: HF modeling_rope_utils for linear and YaRN.
// Throws Error{bad_input} when a frequency is not finite.
RopeTable make_rope_table(int dims, double base, const RopeScaling& scaling,
                          std::span<const float> divisors);

}  // namespace arion
