// Table lookup over generated Unicode data.
#include "text/unicode.h"

#include <algorithm>

namespace arion {
namespace {

#include "text/generated/unicode_tables.inc"

constexpr char32_t kUnicodeBlock = 64;  // code points per block of the two-stage table

}  // namespace

uint16_t unicode_flags(char32_t code_point) {
  if (code_point > 0x10FFFF) return 0;
  const size_t block = kUnicodeIndex[code_point / kUnicodeBlock];
  return kUnicodeFlags[block * kUnicodeBlock + code_point % kUnicodeBlock];
}

}  // namespace arion
