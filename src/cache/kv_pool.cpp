// A free list and one reference count per block.
#include "cache/kv_pool.h"

#include <numeric>

#include "base/check.h"

namespace arion {

KvPool::KvPool(int blocks) {
  CHECK(blocks >= 0);
  references_.resize(static_cast<size_t>(blocks));
  free_.resize(static_cast<size_t>(blocks));
  std::iota(free_.rbegin(), free_.rend(), 0);  // so that 0 is handed out first
}

std::optional<BlockId> KvPool::allocate() {
  if (free_.empty()) return std::nullopt;
  const BlockId block = free_.back();
  free_.pop_back();
  references_[static_cast<size_t>(block)] = 1;
  return block;
}

void KvPool::retain(BlockId block) {
  CHECK(references(block) > 0);
  ++references_[static_cast<size_t>(block)];
}

void KvPool::release(BlockId block) {
  CHECK(references(block) > 0);
  if (--references_[static_cast<size_t>(block)] == 0) free_.push_back(block);
}

int KvPool::references(BlockId block) const {
  CHECK(block >= 0 && block < blocks());
  return references_[static_cast<size_t>(block)];
}

}  // namespace arion
