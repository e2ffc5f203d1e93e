// Looks models up: a path as it is, a name in the cache, the default when nothing is given.
#include "assembly/model_path.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <system_error>

#include "base/error.h"

namespace arion {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".gguf";
constexpr std::string_view kDefaultModel = "default.gguf";  // quickstart links it

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

// Names of the models in `cache` without their extension, sorted.
std::vector<std::string> fetched_models(const fs::path& cache) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(cache, error), end; !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    if (path.extension() == kExtension && path.filename() != kDefaultModel) {
      names.push_back(path.stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path default_model(const fs::path& cache, const std::vector<std::string>& names) {
  const fs::path linked = cache / kDefaultModel;
  std::error_code error;
  if (!cache.empty() && fs::exists(linked, error)) return linked;
  if (names.size() == 1) return cache / (names[0] + std::string(kExtension));
  fail(ErrorCode::usage,
       "no model named and no default in {}; name a GGUF file or run scripts/quickstart.sh, which "
       "fetches one",
       cache.empty() ? "the cache (HOME is not set)" : cache.string());
}

}  // namespace

fs::path user_cache_dir() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return fs::path(cache) / "arion";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return fs::path(home) / ".cache/arion";
  return {};
}

fs::path model_cache_dir() {
  const fs::path cache = user_cache_dir();
  return cache.empty() ? cache : cache / "models";
}

fs::path resolve_model(std::string_view argument, const fs::path& cache) {
  const std::vector<std::string> names = fetched_models(cache);
  if (argument.empty()) return default_model(cache, names);
  // Whatever names a file or looks like a path is left to the reader, which says what is wrong.
  const fs::path path(argument);
  std::error_code error;
  if (fs::exists(path, error) || argument.find('/') != std::string_view::npos) return path;

  std::string wanted = lower(argument);
  if (wanted.ends_with(kExtension)) wanted.resize(wanted.size() - kExtension.size());
  if (wanted == "default") return default_model(cache, names);
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (lower(name) == wanted) return cache / (name + std::string(kExtension));
    if (lower(name).starts_with(wanted)) found.push_back(name);
  }
  if (found.size() == 1) return cache / (found[0] + std::string(kExtension));
  if (found.size() > 1) {
    fail(ErrorCode::usage, "model '{}' may be any of: {}", argument, fmt::join(found, ", "));
  }
  fail(ErrorCode::usage, "no model '{}': there is no such file, and the fetched models are: {}",
       argument, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

}  // namespace arion
