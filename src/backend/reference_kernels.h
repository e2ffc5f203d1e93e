// The reference as kernels, so that a whole plan can run on it.
#pragma once
#include "backend/kernel.h"

namespace arion {

// Adds one kernel per operation, for every form, weight and KV type. They do the step in one chunk
// and use worker 0's copy of every value: run them with one worker.
void register_reference_kernels(KernelRegistry& registry);

}  // namespace arion
