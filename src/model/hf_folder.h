// Models in Hugging Face folders: config.json and safetensors files.
#pragma once
#include <filesystem>

#include "io/gguf.h"

namespace arion {

// Opens a GGUF file, or a folder with config.json and model.safetensors (or
// model.safetensors.index.json and its files). A folder is presented in GGUF's terms: keys and
// tensor names are those of a conversion, but no weight is changed or permuted; only what GGUF
// stores differently and is small is made anew (norm gains of Gemma, rotation divisors), and fp8
// weights are expanded to F32 with their scales. Throws Error like GgufFile::open.
GgufFile open_model(const std::filesystem::path& path);

}  // namespace arion
