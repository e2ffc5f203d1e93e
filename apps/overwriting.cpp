#include "overwriting.h"

#include <system_error>

#include "base/error.h"
#include "base/output_file.h"

namespace arion::app {

namespace fs = std::filesystem;

std::vector<fs::path> files_of_model(const fs::path& path, const GgufFile& model) {
  std::vector<fs::path> files(model.file_names().begin(), model.file_names().end());
  std::error_code error;
  fs::recursive_directory_iterator it(path, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    files.push_back(it->path());
  }
  return files;
}

void check_output(std::span<const fs::path> inputs, const fs::path& out) {
  for (const fs::path& input : inputs) {
    std::error_code error;
    if (!fs::equivalent(input, out, error)) continue;
    fail(ErrorCode::usage, "'{}' would be written over, but '{}' is read; give another name",
         out.string(), input.string());
  }
  const OutputFile trial(out);
}

}  // namespace arion::app
