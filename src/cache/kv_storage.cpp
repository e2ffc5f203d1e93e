// Layout, copying and poisoning of blocks in one allocation.
#include "cache/kv_storage.h"

#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/error.h"

namespace arion {
namespace {

// All bits set is a NaN in f32, f16 and bf16.
constexpr int kNanByte = 0xff;

size_t checked_bytes(const KvGroupSpec& spec, int blocks) {
  if (spec.layers < 1 || spec.kv_heads < 1 || spec.head_dim < 1 || spec.window < 0 || blocks < 1) {
    fail(ErrorCode::bad_input,
         "KV cache: {} layers, {} KV heads, head size {}, window {}, {} blocks; all must be "
         "positive (the window 0 or more)",
         spec.layers, spec.kv_heads, spec.head_dim, spec.window, blocks);
  }
  size_t bytes = 2 * kBlockTokens * dtype_bytes(spec.type);
  for (const int factor : {spec.layers, spec.kv_heads, spec.head_dim, blocks}) {
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(factor), &bytes) ||
        bytes > static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max())) {
      fail(ErrorCode::bad_input,
           "KV cache: {} blocks of {} layers x {} KV heads x head size {} exceed the address "
           "space; use a shorter context",
           blocks, spec.layers, spec.kv_heads, spec.head_dim);
    }
  }
  return bytes;
}

}  // namespace

KvStorage::KvStorage(const KvGroupSpec& spec, int blocks)
    : spec_(spec), blocks_(blocks), memory_(checked_bytes(spec, blocks)) {}

KvView KvStorage::view() const {
  return {.base = memory_.data(),
          .type = spec_.type,
          .kv_heads = spec_.kv_heads,
          .head_dim = spec_.head_dim,
          .blocks = static_cast<size_t>(blocks_)};
}

void KvStorage::copy_block(BlockId from, BlockId to) {
  CHECK(from >= 0 && from < blocks_ && to >= 0 && to < blocks_ && from != to);
  const KvView kv = view();
  for (int layer = 0; layer < spec_.layers; ++layer) {
    std::memcpy(kv.keys(layer, to, 0), kv.keys(layer, from, 0), kv.block_bytes());
  }
}

void KvStorage::poison() {
  std::memset(memory_.data(), kNanByte, memory_.size());
}

void KvStorage::poison_block(BlockId block) {
  CHECK(block >= 0 && block < blocks_);
  const KvView kv = view();
  for (int layer = 0; layer < spec_.layers; ++layer) {
    std::memset(kv.keys(layer, block, 0), kNanByte, kv.block_bytes());
  }
}

}  // namespace arion
