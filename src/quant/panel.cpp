// Names of codecs and scale modes.
#include "quant/panel.h"

#include <array>

namespace arion {

std::string_view codec_name(Codec codec) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "c1", "c2", "c3", "c4", "c5", "c6", "c8", "t3", "t4", "f32", "f16", "bf16"};
  return kNames[static_cast<size_t>(codec)];
}

std::string_view scale_mode_name(ScaleMode mode) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "none", "a", "a64", "a128", "b", "d16", "d16m", "d32", "d32s", "e16", "e32"};
  return kNames[static_cast<size_t>(mode)];
}

}  // namespace arion
