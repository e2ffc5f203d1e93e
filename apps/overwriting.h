// Keeps commands from writing over what they read.
#pragma once
#include <filesystem>
#include <span>
#include <vector>

#include "io/gguf.h"

namespace arion::app {

// The files of an opened model; of a Hugging Face folder everything that lies in it.
std::vector<std::filesystem::path> files_of_model(const std::filesystem::path& path,
                                                  const GgufFile& model);

// Throws Error before any work: usage when `out` is one of the inputs, by whatever name (files are
// compared as the system sees them; inputs that do not exist are passed over), and like OutputFile
// when it cannot be written.
void check_output(std::span<const std::filesystem::path> inputs, const std::filesystem::path& out);

}  // namespace arion::app
