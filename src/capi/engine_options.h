// Options of the C interface as the engine has them.
#pragma once
#include "arion/arion.h"
#include "assembly/answering_engine.h"

namespace arion {

// Reads no further than options->size; `options` may be null. Throws Error{usage} for what is out
// of range or unknown to this version.
AnsweringOptions read_engine_options(const char* model, const arion_engine_options* options);

}  // namespace arion
