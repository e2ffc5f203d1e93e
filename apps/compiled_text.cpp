#include "compiled_text.h"

#include <fmt/format.h>

#include "base/error.h"
#include "mebibytes.h"

namespace arion::app {

std::string compiled_text(const CompiledSearch& search) {
  if (search.found) {
    return fmt::format("weights mapped from {}, {:.1f} MiB",
                       printable(search.found->path.string(), 4096),
                       mebibytes(search.found->file.bytes().size()));
  }
  if (search.problem.empty()) return "weights packed when loaded";
  return "weights packed when loaded; the compiled model is not used: " +
         printable(search.problem, 4096);
}

nlohmann::ordered_json compiled_json(const CompiledSearch& search) {
  if (!search.found) return nullptr;
  return {{"path", search.found->path.string()}, {"bytes", search.found->file.bytes().size()}};
}

}  // namespace arion::app
