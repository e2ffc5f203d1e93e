// The parts of a format that do not depend on its layout.
#include "quant/block_format.h"

namespace arion {

float mean_square(std::span<const float> row) {
  float sum = 0;
  for (const float x : row) sum += x * x;
  return sum / static_cast<float>(row.size());
}

int packed_rows(size_t bytes, size_t row_bytes) {
  CHECK(bytes > 0 && bytes % row_bytes == 0 && bytes / row_bytes <= kPanelRows);
  return static_cast<int>(bytes / row_bytes);
}

}  // namespace arion
