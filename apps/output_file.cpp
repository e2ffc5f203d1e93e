// Files are compared as the system sees them, whatever their names.
#include "output_file.h"

#include "base/error.h"

namespace arion::app {

void refuse_overwriting(const GgufFile& model, const std::filesystem::path& out) {
  for (const std::string& name : model.file_names()) {
    std::error_code error;
    if (!std::filesystem::equivalent(name, out, error)) continue;
    fail(ErrorCode::usage, "{}: is the file to read from; give another name", out.string());
  }
}

}  // namespace arion::app
