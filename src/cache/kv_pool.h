// A fixed set of reference-counted block ids; knows nothing about sequences or memory.
#pragma once
#include <optional>
#include <vector>

#include "cache/kv_group.h"

namespace arion {

// A block is free, referenced, or idle: kept for its content though nobody references it. Idle
// blocks are ordered by when they lost their last reference.
//
// Deterministic: the ids handed out depend only on the calls made. Used by one thread.
class KvPool {
 public:
  explicit KvPool(int blocks);

  // A block with one reference; nullopt: none is free, the caller forgets idle ones, waits or
  // preempts.
  std::optional<BlockId> allocate();
  void retain(BlockId block);   // of a referenced or idle block
  void release(BlockId block);  // the last reference frees the block, or leaves it idle if kept

  // From now on the content of this block, which is referenced, outlives its references.
  void keep(BlockId block);
  // No more; frees an idle block.
  void forget(BlockId block);
  std::optional<BlockId> oldest_idle() const;

  int blocks() const { return static_cast<int>(references_.size()); }
  int free_blocks() const { return static_cast<int>(free_.size()); }
  int idle_blocks() const { return idle_; }
  // What can be had without taking anything from those who hold references.
  int available_blocks() const { return free_blocks() + idle_blocks(); }
  int references(BlockId block) const;
  bool is_kept(BlockId block) const;

 private:
  struct Link {
    BlockId older, newer;
  };
  Link& link(BlockId block) { return links_[static_cast<size_t>(block)]; }
  void enter_idle(BlockId block);
  void leave_idle(BlockId block);

  std::vector<int> references_;  // [blocks]
  std::vector<bool> is_kept_;    // [blocks]
  std::vector<BlockId> free_;    // a stack: the block freed last is warm in the caches
  std::vector<Link> links_;      // [blocks + 1]: a ring of idle blocks, closed by the last entry
  int idle_ = 0;
};

}  // namespace arion
