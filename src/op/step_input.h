// What one step feeds to the kernels: rows, positions and where the KV of each run lies.
#pragma once
#include <cstddef>
#include <cstdint>

#include "op/op.h"
#include "tensor/dtype.h"

namespace arion {

inline constexpr int kBlockTokens = 16;  // tokens per KV block

// Storage of one KV group: [layer][block][kv head][K | V] with K [head_dim][16 tokens] and
// V [16 tokens][head_dim].
struct KvView {
  std::byte* base = nullptr;
  DType type = DType::f32;
  int kv_heads = 0, head_dim = 0;
  size_t blocks = 0;  // per layer

  // Bytes of K (or of V) of one head in one block.
  size_t half_bytes() const {
    return static_cast<size_t>(head_dim) * kBlockTokens * dtype_bytes(type);
  }
  size_t block_bytes() const { return 2 * half_bytes() * static_cast<size_t>(kv_heads); }
  size_t layer_bytes() const { return block_bytes() * blocks; }
  std::byte* keys(int layer, int32_t block, int head) const {
    return base + static_cast<size_t>(layer) * layer_bytes() +
           static_cast<size_t>(block) * block_bytes() +
           static_cast<size_t>(head) * 2 * half_bytes();
  }
  std::byte* values(int layer, int32_t block, int head) const {
    return keys(layer, block, head) + half_bytes();
  }
};

// Rows of one kind. Rows of one run are consecutive, in ascending position.
struct RowSet {
  int count = 0;
  const int32_t* position = nullptr;  // [count] absolute position in the sequence
  const int32_t* run = nullptr;       // [count] which run of the step
};

struct StepInput {
  RowSet all{}, output{};
  const int32_t* tokens = nullptr;        // [all.count]
  const int32_t* output_index = nullptr;  // [output.count] row among all
  const KvView* kv = nullptr;             // [groups]
  int groups = 0;
  // [run * groups + group] block ids by position / kBlockTokens. Blocks wholly behind a window may
  // hold any id: no kernel reads them.
  const int32_t* const* block_tables = nullptr;

  const RowSet& rows(RowsKind kind) const { return kind == RowsKind::all ? all : output; }
  const int32_t* block_table(int run, int group) const {
    return block_tables[run * groups + group];
  }
};

}  // namespace arion
