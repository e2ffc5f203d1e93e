// Binary search among the runs.
#include "text/script.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace arion {
namespace {

struct ScriptRun {
  uint32_t first, last;  // inclusive
  uint8_t script;
};

#include "text/generated/script_table.inc"

}  // namespace

int script_group(char32_t code_point) {
  const auto run = std::lower_bound(std::begin(kScriptRuns), std::end(kScriptRuns), code_point,
                                    [](const ScriptRun& r, char32_t c) { return r.last < c; });
  return run != std::end(kScriptRuns) && run->first <= code_point ? run->script : kAnyScript;
}

}  // namespace arion
