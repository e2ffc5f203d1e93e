// Which file the name of a model means.
#pragma once
#include <filesystem>
#include <string_view>

namespace arion {

// ${XDG_CACHE_HOME:-~/.cache}/arion. Empty when there is no home directory.
std::filesystem::path user_cache_dir();

// user_cache_dir()/models, where scripts/quickstart.sh puts models; empty like it.
std::filesystem::path model_cache_dir();

// `argument` is a path; or the name of a file in `cache`, where ".gguf" and a unique beginning in
// any case suffice; or empty or "default" for `default.gguf` there, or the only model there. Throws
// Error{usage} saying what was looked for and what there is.
std::filesystem::path resolve_model(std::string_view argument, const std::filesystem::path& cache);

inline std::filesystem::path resolve_model(std::string_view argument) {
  return resolve_model(argument, model_cache_dir());
}

}  // namespace arion
