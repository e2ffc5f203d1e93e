// Which file the MODEL argument of a command means.
#pragma once
#include <filesystem>
#include <string_view>
#include <vector>

namespace arion {

// For the help text of MODEL arguments.
constexpr const char* kModelHelp =
    "GGUF file, Hugging Face folder, or name of a fetched model; without it the quickstart model";

// The same where only the tokenizer is needed.
constexpr const char* kTokenizerHelp =
    "GGUF file, folder with a tokenizer (tokenizer.json, tokenizer.model, ...), or the name of a "
    "fetched model; without it the quickstart model";

// ${XDG_CACHE_HOME:-~/.cache}/arion/models, where scripts/quickstart.sh puts models. Empty when
// there is no home directory.
std::filesystem::path model_cache_dir();

// `argument` is a path; or the name of a file in `cache`, where ".gguf" and a unique beginning in
// any case suffice; or empty or "default" for `default.gguf` there, or the only model there. Throws
// Error{usage} saying what was looked for and what there is.
std::filesystem::path resolve_model(std::string_view argument, const std::filesystem::path& cache);

inline std::filesystem::path resolve_model(std::string_view argument) {
  return resolve_model(argument, model_cache_dir());
}

}  // namespace arion
