// Models in Hugging Face folders: config.json and safetensors files.
#pragma once
#include <cstdint>
#include <filesystem>

#include "io/gguf.h"

namespace arion {

enum class FolderUse : uint8_t {
  run,     // the tokenizer is read on its own
  convert  // with the keys of tokenizer and chat templates, as a GGUF file has them
};

// Opens a GGUF file, or a folder with config.json and model.safetensors (or
// model.safetensors.index.json and its files). A folder is presented in GGUF's terms: keys and
// tensor names are those of a conversion, but no weight is changed or permuted; only what GGUF
// stores differently and is small is made anew (norm gains of Gemma, rotation divisors), and fp8
// weights are expanded to F32 with their scales. Where GGUF's convention for the architecture has
// the rows of queries and keys in another order, the key ARCH.rope.pairing says half_split. A
// folder without a tokenizer has tokenizer.ggml.model "none" when it is to be converted. Throws
// Error like GgufFile::open, and like convert_vocabulary.
GgufFile open_model(const std::filesystem::path& path, FolderUse use = FolderUse::run);

}  // namespace arion
