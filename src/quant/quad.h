// Groups of values in lanes: encoders search the scales of four groups side by side, each lane with
// the additions in the order of its own group.
#pragma once
#include <cstdint>

#include "base/quad.h"

namespace arion {

// out[i] holds value i of four consecutive groups; groups from `count` on repeat the last one.
inline void gather_groups(const float* x, int group_size, int count, Quad* out) {
  const float* group[kQuadLanes];
  for (int g = 0; g < kQuadLanes; ++g) group[g] = x + (g < count ? g : count - 1) * group_size;
  for (int i = 0; i < group_size; ++i) {
    out[i] = Quad{group[0][i], group[1][i], group[2][i], group[3][i]};
  }
}

inline void scatter_codes(const Quad* codes, int group_size, uint8_t* out) {
  for (int i = 0; i < group_size; ++i) {
    for (int g = 0; g < kQuadLanes; ++g) {
      out[g * group_size + i] = static_cast<uint8_t>(codes[i][g]);
    }
  }
}

}  // namespace arion
