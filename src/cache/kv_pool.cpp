// A free list, one reference count per block, and a ring of idle blocks from old to new.
#include "cache/kv_pool.h"

#include <numeric>

#include "base/check.h"

namespace arion {

KvPool::KvPool(int blocks) {
  CHECK(blocks >= 0);
  references_.resize(static_cast<size_t>(blocks));
  is_kept_.resize(static_cast<size_t>(blocks));
  free_.resize(static_cast<size_t>(blocks));
  std::iota(free_.rbegin(), free_.rend(), 0);  // so that 0 is handed out first
  links_.assign(static_cast<size_t>(blocks) + 1, {.older = blocks, .newer = blocks});
}

std::optional<BlockId> KvPool::allocate() {
  if (free_.empty()) return std::nullopt;
  const BlockId block = free_.back();
  free_.pop_back();
  references_[static_cast<size_t>(block)] = 1;
  return block;
}

void KvPool::retain(BlockId block) {
  const bool is_idle = references(block) == 0;
  CHECK(!is_idle || is_kept(block));
  if (is_idle) leave_idle(block);
  ++references_[static_cast<size_t>(block)];
}

void KvPool::release(BlockId block) {
  CHECK(references(block) > 0);
  if (--references_[static_cast<size_t>(block)] > 0) return;
  if (is_kept(block)) {
    enter_idle(block);
  } else {
    free_.push_back(block);
  }
}

void KvPool::keep(BlockId block) {
  CHECK(references(block) > 0);
  is_kept_[static_cast<size_t>(block)] = true;
}

void KvPool::forget(BlockId block) {
  CHECK(is_kept(block));
  is_kept_[static_cast<size_t>(block)] = false;
  if (references(block) > 0) return;
  leave_idle(block);
  free_.push_back(block);
}

std::optional<BlockId> KvPool::oldest_idle() const {
  if (idle_ == 0) return std::nullopt;
  return links_.back().newer;
}

int KvPool::references(BlockId block) const {
  CHECK(block >= 0 && block < blocks());
  return references_[static_cast<size_t>(block)];
}

bool KvPool::is_kept(BlockId block) const {
  CHECK(block >= 0 && block < blocks());
  return is_kept_[static_cast<size_t>(block)];
}

// The ring's closing entry is the neighbour of the oldest and of the newest.
void KvPool::enter_idle(BlockId block) {
  const BlockId end = blocks(), newest = link(end).older;
  link(block) = {.older = newest, .newer = end};
  link(newest).newer = block;
  link(end).older = block;
  ++idle_;
}

void KvPool::leave_idle(BlockId block) {
  const auto [older, newer] = link(block);
  link(older).newer = newer;
  link(newer).older = older;
  --idle_;
}

}  // namespace arion
