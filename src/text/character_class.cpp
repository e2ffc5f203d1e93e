// Two-stage table lookup.
#include "text/character_class.h"

#include <cstddef>

namespace arion {
namespace {

#include "text/generated/character_tables.inc"

constexpr char32_t kBlock = 64;  // code points per block

}  // namespace

uint16_t character_class(char32_t code_point) {
  if (code_point > 0x10FFFF) return 0;
  return kValues[size_t{kIndex[code_point / kBlock]} * kBlock + code_point % kBlock];
}

}  // namespace arion
