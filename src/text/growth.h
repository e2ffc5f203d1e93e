// The bound on how much longer a text may become.
#pragma once
#include <cstddef>

#include "base/error.h"

namespace arion {

// No normal form makes a text more than 18 times longer; a file may ask for anything.
inline void check_growth(size_t from_bytes, size_t to_bytes) {
  constexpr size_t kMostTimes = 64, kAlways = 1 << 16;
  if (to_bytes / kMostTimes <= from_bytes || to_bytes <= kAlways) return;
  fail(ErrorCode::bad_input,
       "the tokenizer makes {} bytes of text of {} bytes, at most {} times as many are supported",
       to_bytes, from_bytes, kMostTimes);
}

}  // namespace arion
