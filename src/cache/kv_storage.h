// The memory behind one KV group's blocks.
#pragma once
#include "cache/kv_group.h"
#include "tensor/memory.h"

namespace arion {

// Owns the bytes; which block holds what is the business of KvPool and BlockTable. The kernels of
// a step write disjoint slots; everything else happens between steps, on one thread.
class KvStorage {
 public:
  // Throws Error{bad_input} for a shape that cannot be, Error{failed} when memory is refused.
  KvStorage(const KvGroupSpec& spec, int blocks);

  const KvGroupSpec& spec() const { return spec_; }
  int blocks() const { return blocks_; }
  size_t bytes() const { return memory_.size(); }
  KvView view() const;

  void copy_block(BlockId from, BlockId to);  // all layers
  // Fills with NaN, so that a read of a slot nobody wrote shows in the logits.
  void poison();
  void poison_block(BlockId block);

 private:
  KvGroupSpec spec_;
  int blocks_;
  Memory memory_;
};

}  // namespace arion
