// A fixed set of reference-counted block ids; knows nothing about sequences or memory.
#pragma once
#include <optional>
#include <vector>

#include "cache/kv_group.h"

namespace arion {

// Deterministic: the ids handed out depend only on the calls made. Used by one thread.
class KvPool {
 public:
  explicit KvPool(int blocks);

  // A block with one reference; nullopt: full, the caller waits or preempts.
  std::optional<BlockId> allocate();
  void retain(BlockId block);
  void release(BlockId block);  // the last reference frees the block

  int blocks() const { return static_cast<int>(references_.size()); }
  int free_blocks() const { return static_cast<int>(free_.size()); }
  int references(BlockId block) const;

 private:
  std::vector<int> references_;  // [blocks]
  std::vector<BlockId> free_;    // a stack: the block freed last is warm in the caches
};

}  // namespace arion
