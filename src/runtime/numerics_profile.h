// What the bits of a model's logits depend on besides its file and the tokens.
#pragma once
#include <string>
#include <vector>

#include "graph/plan.h"
#include "model/model.h"

namespace arion {

// Arithmetic tags of the kernels of a plan, in order of their first use.
std::vector<std::string> arithmetic_tags(const ExecutionPlan& plan);

// "activations by weight, kv f16, arithmetic ...". Equal profiles give equal logits.
std::string numerics_profile(const ModelOptions& options, const ExecutionPlan& plan);

}  // namespace arion
