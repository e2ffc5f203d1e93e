// F16: IEEE half precision.
#include "base/half.h"
#include "quant/word_format.h"

namespace arion {
namespace {

struct F16 {
  static constexpr std::string_view kName = "F16";
  static constexpr uint32_t kType = 1;
  static constexpr Codec kCodec = Codec::f16;
  using Word = uint16_t;
  static float decode(Word word) { return half_to_float(word); }
  static Word encode(float x) { return float_to_half(x); }
};

}  // namespace

const WeightFormat& format_f16() {
  static const WordFormat<F16> format;
  return format;
}

}  // namespace arion
