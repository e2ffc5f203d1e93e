// A part of a text.
#pragma once
#include <cstddef>

namespace arion {

// Bytes [begin, end) of a text.
struct TextRange {
  size_t begin, end;
};

}  // namespace arion
