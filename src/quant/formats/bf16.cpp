// BF16: the upper half of IEEE single precision.
#include "base/half.h"
#include "quant/word_format.h"

namespace arion {
namespace {

struct BF16 {
  static constexpr std::string_view kName = "BF16";
  static constexpr uint32_t kType = 30;
  static constexpr Codec kCodec = Codec::bf16;
  using Word = uint16_t;
  static float decode(Word word) { return bfloat16_to_float(word); }
  static Word encode(float x) { return float_to_bfloat16(x); }
};

}  // namespace

const WeightFormat& format_bf16() {
  static const WordFormat<BF16> format;
  return format;
}

}  // namespace arion
