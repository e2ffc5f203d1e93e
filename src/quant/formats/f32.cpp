// F32: IEEE single precision.
#include <bit>

#include "quant/word_format.h"

namespace arion {
namespace {

struct F32 {
  static constexpr std::string_view kName = "F32";
  static constexpr uint32_t kType = 0;
  static constexpr Codec kCodec = Codec::f32;
  using Word = uint32_t;
  static float decode(Word word) { return std::bit_cast<float>(word); }
  static Word encode(float x) { return std::bit_cast<uint32_t>(x); }
};

}  // namespace

const WeightFormat& format_f32() {
  static const WordFormat<F32> format;
  return format;
}

}  // namespace arion
