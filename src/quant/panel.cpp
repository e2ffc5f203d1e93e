// Names of codecs and scale modes.
#include "quant/panel.h"

namespace arion {

std::string_view codec_name(Codec codec) {
  switch (codec) {
    case Codec::c4:
      return "c4";
    case Codec::c5:
      return "c5";
    case Codec::c6:
      return "c6";
    case Codec::c8:
      return "c8";
    case Codec::f32:
      return "f32";
    case Codec::f16:
      return "f16";
    case Codec::bf16:
      return "bf16";
  }
  return "?";
}

std::string_view scale_mode_name(ScaleMode mode) {
  switch (mode) {
    case ScaleMode::none:
      return "none";
    case ScaleMode::a:
      return "a";
    case ScaleMode::b:
      return "b";
    case ScaleMode::d16:
      return "d16";
    case ScaleMode::d32:
      return "d32";
  }
  return "?";
}

}  // namespace arion
