// Which blocks hold the keys and values of one sequence in one KV group.
#pragma once
#include <vector>

#include "cache/kv_pool.h"

namespace arion {

// A copy-on-write: the runner copies these, in order, before it computes anything.
struct BlockCopy {
  int group = 0;
  BlockId from = 0, to = 0;
};

// Holds one reference to each of its live blocks, blocks()[first_live()] and after. It does not
// know its pool: every call that takes or gives blocks names it, and clear() must come before the
// end of its life.
class BlockTable {
 public:
  // [live and freed] by position / kBlockTokens. Entries before first_live() lie wholly behind the
  // window; they hold block 0, a valid address that no kernel reads.
  const std::vector<BlockId>& blocks() const { return blocks_; }
  int first_live() const { return first_live_; }
  int live_blocks() const { return static_cast<int>(blocks_.size()) - first_live_; }
  int capacity_tokens() const { return static_cast<int>(blocks_.size()) * kBlockTokens; }

  // Blocks to take from the pool before positions [0, tokens) have a place.
  int missing_blocks(int tokens) const;
  // Takes them; false (and nothing taken) if the pool has too few.
  bool grow(KvPool& pool, int tokens);
  // Appends a block that others hold as well; before any other, blocks behind the window.
  void share(KvPool& pool, BlockId block);
  void skip();
  // Exchanges a live block for another one with the same content.
  void replace(KvPool& pool, int index, BlockId block);
  // Gives back the blocks wholly before `position`: nobody will look there again.
  void release_before(KvPool& pool, int position);
  // The last blocks first: what is idle longest is no prefix of what is kept.
  void clear(KvPool& pool);

 private:
  std::vector<BlockId> blocks_;
  int first_live_ = 0;
};

}  // namespace arion
