// Sizes as they are shown.
#pragma once
#include <cstdint>

namespace arion::app {

inline double mebibytes(uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

}  // namespace arion::app
