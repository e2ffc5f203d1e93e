// The list of formats, generated from the file names in formats/.
#include <algorithm>
#include <array>

#include "quant/weight_format.h"

namespace arion {

#define ARION_ENTRY(name) const WeightFormat& format_##name();
#include "formats.inc"
#undef ARION_ENTRY

std::span<const WeightFormat* const> weight_formats() {
#define ARION_ENTRY(name) &format_##name(),
  static const std::array formats = {
#include "formats.inc"
  };
#undef ARION_ENTRY
  return formats;
}

const WeightFormat* find_weight_format(uint32_t gguf_type) {
  for (const WeightFormat* format : weight_formats()) {
    if (format->gguf_type() == gguf_type) return format;
  }
  return nullptr;
}

const WeightFormat* find_weight_format(std::string_view name) {
  for (const WeightFormat* format : weight_formats()) {
    if (format->name() == name) return format;
  }
  return nullptr;
}

}  // namespace arion
