// What becomes of one tensor when a model is written again.
#pragma once
#include <cstdint>

#include "compress/importance.h"
#include "io/gguf.h"

namespace arion {

struct TensorPlan {
  const GgufTensor* source = nullptr;
  uint32_t type = 0;    // ggml type id
  uint32_t wanted = 0;  // what the mixture said; differs where rows do not divide into its blocks
  const ImportanceSums* importance = nullptr;  // null: none for this tensor
  // Rows of a head of which GGUF wants the second half between those of the first; 0: as they are.
  uint64_t interleaved_rows = 0;

  uint64_t bytes() const;
  bool is_fallback() const { return type != wanted; }
  bool is_changed() const { return type != source->type; }
  // The row of the source that becomes row `row`; of a vector, the element.
  uint64_t source_row(uint64_t row) const {
    if (interleaved_rows == 0) return row;
    const uint64_t in_head = row % interleaved_rows;
    return row - in_head + in_head % 2 * (interleaved_rows / 2) + in_head / 2;
  }
};

}  // namespace arion
