// A KV group: layers whose keys and values have the same shape, type and window share block ids.
#pragma once
#include <cstddef>
#include <cstdint>

#include "op/op.h"
#include "op/step_input.h"
#include "tensor/dtype.h"

namespace arion {

using BlockId = int32_t;
using TokenId = int32_t;

struct KvGroupSpec {
  int layers = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int window = 0;  // keys visible to a query, itself included; 0 = all before it
  DType type = DType::f16;

  // Bytes of one block over all layers of the group: K and V of kBlockTokens tokens.
  size_t block_bytes() const {
    return 2 * static_cast<size_t>(layers) * static_cast<size_t>(kv_heads) *
           static_cast<size_t>(head_dim) * kBlockTokens * dtype_bytes(type);
  }

  // First position that a token at position >= `computed` can still see.
  int first_visible(int computed) const { return arion::first_visible(computed, window); }

  bool operator==(const KvGroupSpec&) const = default;
};

constexpr int blocks_for(int tokens) {
  return tokens / kBlockTokens + (tokens % kBlockTokens != 0 ? 1 : 0);
}

}  // namespace arion
