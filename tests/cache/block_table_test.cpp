// Growth, windows and giving blocks back.
#include "cache/block_table.h"

#include <gtest/gtest.h>

namespace arion {
namespace {

TEST(BlockTable, GrowsByWholeBlocks) {
  KvPool pool(4);
  BlockTable table;
  EXPECT_TRUE(table.grow(pool, 1));
  EXPECT_EQ(table.blocks().size(), 1u);
  EXPECT_TRUE(table.grow(pool, kBlockTokens));
  EXPECT_EQ(table.blocks().size(), 1u);
  EXPECT_EQ(table.missing_blocks(kBlockTokens + 1), 1);
  EXPECT_TRUE(table.grow(pool, 2 * kBlockTokens + 1));
  EXPECT_EQ(table.capacity_tokens(), 3 * kBlockTokens);
  EXPECT_EQ(pool.free_blocks(), 1);
}

TEST(BlockTable, TakesNothingWhenThePoolHasTooFew) {
  KvPool pool(2);
  BlockTable table;
  EXPECT_FALSE(table.grow(pool, 3 * kBlockTokens));
  EXPECT_EQ(pool.free_blocks(), 2);
  EXPECT_TRUE(table.blocks().empty());
}

TEST(BlockTable, FreesOnlyBlocksWhollyBehindThePosition) {
  KvPool pool(4);
  BlockTable table;
  ASSERT_TRUE(table.grow(pool, 4 * kBlockTokens));
  table.release_before(pool, kBlockTokens - 1);
  EXPECT_EQ(table.first_live(), 0);
  table.release_before(pool, 2 * kBlockTokens + 3);
  EXPECT_EQ(table.first_live(), 2);
  EXPECT_EQ(table.live_blocks(), 2);
  EXPECT_EQ(table.blocks()[0], 0);
  EXPECT_EQ(table.blocks()[2], 2) << "live blocks keep their place";
  EXPECT_EQ(pool.free_blocks(), 2);
  table.release_before(pool, 5);  // never backwards
  EXPECT_EQ(table.first_live(), 2);
}

TEST(BlockTable, ClearReturnsEveryLiveBlockOnce) {
  KvPool pool(4);
  BlockTable table;
  ASSERT_TRUE(table.grow(pool, 4 * kBlockTokens));
  table.release_before(pool, 2 * kBlockTokens);
  table.clear(pool);
  EXPECT_EQ(pool.free_blocks(), 4);
  EXPECT_EQ(table.first_live(), 0);
  EXPECT_EQ(table.capacity_tokens(), 0);
}

TEST(KvGroup, WindowCountsTheQueryItself) {
  const KvGroupSpec full{.layers = 1, .kv_heads = 1, .head_dim = 8};
  EXPECT_EQ(full.first_visible(1000), 0);
  const KvGroupSpec window{.layers = 1, .kv_heads = 1, .head_dim = 8, .window = 4};
  EXPECT_EQ(window.first_visible(3), 0);  // position 3 sees 0..3
  EXPECT_EQ(window.first_visible(4), 1);
}

}  // namespace
}  // namespace arion
