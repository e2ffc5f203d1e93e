// Reference counts and the free list.
#include "cache/kv_pool.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace arion {
namespace {

TEST(KvPool, HandsOutEveryBlockOnceThenRefuses) {
  KvPool pool(3);
  EXPECT_EQ(pool.allocate(), 0);
  EXPECT_EQ(pool.allocate(), 1);
  EXPECT_EQ(pool.allocate(), 2);
  EXPECT_EQ(pool.allocate(), std::nullopt);
  EXPECT_EQ(pool.free_blocks(), 0);
  EXPECT_EQ(pool.blocks(), 3);
}

TEST(KvPool, ReleasingTheLastReferenceFreesTheBlock) {
  KvPool pool(1);
  const BlockId block = pool.allocate().value();
  pool.retain(block);
  pool.release(block);
  EXPECT_EQ(pool.references(block), 1);
  EXPECT_EQ(pool.free_blocks(), 0);
  pool.release(block);
  EXPECT_EQ(pool.references(block), 0);
  EXPECT_EQ(pool.allocate(), block);
}

TEST(KvPool, RefusesToCountAFreeOrUnknownBlock) {
  KvPool pool(2);
  EXPECT_THROW(pool.release(0), std::logic_error);
  EXPECT_THROW(pool.retain(1), std::logic_error);
  EXPECT_THROW(pool.release(2), std::logic_error);
  EXPECT_THROW(pool.references(-1), std::logic_error);
}

}  // namespace
}  // namespace arion
