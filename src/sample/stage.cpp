// The list of stages, made from the files of stages/.
#include "sample/stage.h"

#include <algorithm>
#include <array>

namespace arion {

#define ARION_ENTRY(name) const Stage& stage_##name();
#include "stages.inc"
#undef ARION_ENTRY

std::span<const Stage* const> all_stages() {
  static const std::array stages = {
#define ARION_ENTRY(name) &stage_##name(),
#include "stages.inc"
#undef ARION_ENTRY
  };
  return stages;
}

const Stage* find_stage(std::string_view name) {
  const auto stages = all_stages();
  const auto found =
      std::find_if(stages.begin(), stages.end(), [&](const Stage* s) { return name == s->name; });
  return found == stages.end() ? nullptr : *found;
}

}  // namespace arion
