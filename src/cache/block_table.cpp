// Growing by whole blocks, and giving back those a window has left behind.
#include "cache/block_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace arion {

int BlockTable::missing_blocks(int tokens) const {
  return std::max(0, blocks_for(tokens) - static_cast<int>(blocks_.size()));
}

bool BlockTable::grow(KvPool& pool, int tokens) {
  const int missing = missing_blocks(tokens);
  if (pool.free_blocks() < missing) return false;
  for (int i = 0; i < missing; ++i) blocks_.push_back(*pool.allocate());
  return true;
}

void BlockTable::share(KvPool& pool, BlockId block) {
  pool.retain(block);
  blocks_.push_back(block);
}

void BlockTable::skip() {
  CHECK(live_blocks() == 0);
  blocks_.push_back(0);
  ++first_live_;
}

void BlockTable::replace(KvPool& pool, int index, BlockId block) {
  CHECK(index >= first_live_ && index < static_cast<int>(blocks_.size()));
  pool.retain(block);
  pool.release(std::exchange(blocks_[static_cast<size_t>(index)], block));
}

void BlockTable::release_before(KvPool& pool, int position) {
  const int end = std::min(position / kBlockTokens, static_cast<int>(blocks_.size()));
  for (; first_live_ < end; ++first_live_) {
    BlockId& block = blocks_[static_cast<size_t>(first_live_)];
    pool.release(block);
    block = 0;
  }
}

void BlockTable::clear(KvPool& pool) {
  for (size_t i = blocks_.size(); i-- > static_cast<size_t>(first_live_);) pool.release(blocks_[i]);
  blocks_.clear();
  first_live_ = 0;
}

}  // namespace arion
