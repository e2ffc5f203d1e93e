// Checks of the files that options name for output.
#pragma once
#include <filesystem>

#include "io/gguf.h"

namespace arion::app {

// Throws Error{usage} when `out` is a file of the model, which is read while it is written.
void refuse_overwriting(const GgufFile& model, const std::filesystem::path& out);

}  // namespace arion::app
