// What is found, shared, copied, given up and kept apart.
#include "cache/prefix_tree.h"

#include <gtest/gtest.h>

#include <numeric>

namespace arion {
namespace {

const KvGroupSpec kFull{.layers = 1, .kv_heads = 1, .head_dim = 8};
const KvGroupSpec kWindow{.layers = 1, .kv_heads = 1, .head_dim = 8, .window = 20};

// Tokens 0, 1, ... with another one at the end if asked for.
std::vector<TokenId> tokens_of(int count, TokenId first = 0) {
  std::vector<TokenId> tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

struct World {
  explicit World(std::vector<KvGroupSpec> specs, int blocks = 20)
      : groups(std::move(specs)), pools(groups.size(), KvPool(blocks)), tree(groups, pools) {}

  struct Owner {
    PrefixCursor cursor;
    std::vector<BlockTable> kv;
  };

  // As a sequence that computes all tokens in one step, behind what it finds.
  Owner compute(const std::vector<TokenId>& tokens, const std::string& salt = "") {
    Owner owner{.kv = std::vector<BlockTable>(groups.size())};
    owner.cursor = tree.enter(salt, tree.find(salt, tokens), owner.kv);
    for (size_t g = 0; g < groups.size(); ++g) {
      const int end = static_cast<int>(tokens.size());
      tree.make_room(static_cast<int>(g), owner.kv[g].missing_blocks(end));
      EXPECT_TRUE(owner.kv[g].grow(pools[g], end));
    }
    tree.publish(owner.cursor, tokens, owner.kv);
    return owner;
  }
  void end(Owner& owner, const std::vector<TokenId>& tokens) {
    tree.publish_tail(owner.cursor, tokens, owner.kv);
    tree.leave(owner.cursor);
    for (size_t g = 0; g < groups.size(); ++g) owner.kv[g].clear(pools[g]);
    tree.check_integrity();
  }
  void compute_and_end(const std::vector<TokenId>& tokens, const std::string& salt = "") {
    Owner owner = compute(tokens, salt);
    end(owner, tokens);
  }

  std::vector<KvGroupSpec> groups;
  std::vector<KvPool> pools;
  PrefixTree tree;
};

TEST(PrefixTree, FindsFullBlocksAndTheBeginningOfTheNext) {
  World world({kFull});
  EXPECT_EQ(world.tree.find("", tokens_of(40)).tokens(), 0);
  world.compute_and_end(tokens_of(40));
  EXPECT_EQ(world.tree.nodes(), 3);
  EXPECT_EQ(world.tree.find("", tokens_of(100)).tokens(), 40) << "the last 8 in a begun block";
  EXPECT_EQ(world.tree.find("", tokens_of(25)).full_tokens, 16);
  EXPECT_EQ(world.tree.find("", tokens_of(25)).tail_tokens, 9) << "of a full block";
  std::vector<TokenId> other = tokens_of(40);
  other[18] = 7;
  EXPECT_EQ(world.tree.find("", other).tokens(), 18);
  other[0] = 7;
  EXPECT_EQ(world.tree.find("", other).tokens(), 0);
}

TEST(PrefixTree, SequencesShareBlocksEvenWhenBothComputedThem) {
  World world({kFull});
  const std::vector<TokenId> tokens = tokens_of(32);
  World::Owner first{.kv = std::vector<BlockTable>(1)}, second{.kv = std::vector<BlockTable>(1)};
  for (World::Owner* owner : {&first, &second}) {
    owner->cursor = world.tree.enter("", {}, owner->kv);
    ASSERT_TRUE(owner->kv[0].grow(world.pools[0], 32));
  }
  EXPECT_NE(first.kv[0].blocks(), second.kv[0].blocks());
  world.tree.publish(first.cursor, tokens, first.kv);
  world.tree.publish(second.cursor, tokens, second.kv);
  EXPECT_EQ(first.kv[0].blocks(), second.kv[0].blocks());
  EXPECT_EQ(world.pools[0].free_blocks(), 18) << "the second one's own are free";
  World::Owner third = world.compute(tokens);
  EXPECT_EQ(third.kv[0].blocks(), first.kv[0].blocks());
  for (World::Owner* owner : {&first, &second, &third}) world.end(*owner, tokens);
  EXPECT_EQ(world.pools[0].idle_blocks(), 2);
}

TEST(PrefixTree, CopiesTheBeginningOfABlockThatIsStillBeingFilled) {
  World world({kFull, kWindow});
  std::vector<TokenId> tokens = tokens_of(20);
  World::Owner owner = world.compute(tokens);
  world.tree.publish_tail(owner.cursor, tokens, owner.kv);
  const PrefixMatch match = world.tree.find("", tokens_of(19));
  EXPECT_EQ(match.tokens(), 19);
  std::vector<BlockTable> kv(2);
  PrefixCursor cursor = world.tree.enter("", match, kv);
  std::vector<BlockCopy> copies;
  ASSERT_TRUE(world.tree.copy_tail(match, kv, copies));
  ASSERT_EQ(copies.size(), 2u);
  for (const BlockCopy& copy : copies) {
    const auto g = static_cast<size_t>(copy.group);
    EXPECT_EQ(copy.from, owner.kv[g].blocks()[1]);
    EXPECT_EQ(copy.to, kv[g].blocks()[1]);
  }
  world.tree.leave(cursor);
  for (size_t g = 0; g < 2; ++g) kv[g].clear(world.pools[g]);
  // The owner fills the block: it is a full one now, and the same node.
  tokens = tokens_of(32);
  world.tree.publish(owner.cursor, tokens, owner.kv);
  EXPECT_EQ(world.tree.nodes(), 2);
  world.end(owner, tokens);
  EXPECT_EQ(world.tree.find("", tokens).tokens(), 32);
}

TEST(PrefixTree, LeavesGoBeforeWhatTheyNeedAndTheOldestFirst) {
  World world({kFull}, 6);
  world.compute_and_end(tokens_of(48));
  std::vector<TokenId> other = tokens_of(16);
  other.resize(48, 9);
  world.compute_and_end(other);
  EXPECT_EQ(world.pools[0].free_blocks(), 1);
  world.tree.make_room(0, 2);
  EXPECT_EQ(world.tree.find("", tokens_of(48)).tokens(), 32) << "the older branch loses its leaf";
  world.tree.make_room(0, 3);
  EXPECT_EQ(world.tree.find("", tokens_of(48)).tokens(), 16);
  EXPECT_EQ(world.tree.find("", other).tokens(), 48);
  world.tree.forget_all_idle();
  EXPECT_EQ(world.tree.nodes(), 0);
  EXPECT_EQ(world.pools[0].free_blocks(), 6);
  world.tree.check_integrity();
}

TEST(PrefixTree, BlocksInUseStay) {
  World world({kFull}, 4);
  const std::vector<TokenId> tokens = tokens_of(48);
  World::Owner owner = world.compute(tokens);
  world.tree.make_room(0, 4);
  EXPECT_EQ(world.pools[0].free_blocks(), 1);
  EXPECT_EQ(world.tree.find("", tokens).tokens(), 48);
  world.end(owner, tokens);
}

TEST(PrefixTree, AWindowNeedsOnlyWhatItSees) {
  World world({kFull, kWindow}, 10);
  World::Owner owner = world.compute(tokens_of(96));
  owner.kv[1].release_before(world.pools[1], kWindow.first_visible(96));
  world.end(owner, tokens_of(96));
  world.tree.make_room(1, 6);  // two of six are left to the window group
  EXPECT_EQ(world.pools[1].idle_blocks(), 4);
  EXPECT_EQ(world.tree.find("", tokens_of(96)).tokens(), 96);
  EXPECT_EQ(world.tree.find("", tokens_of(40)).tokens(), 0) << "its window is gone";
  const PrefixMatch match = world.tree.find("", tokens_of(96));
  std::vector<BlockTable> kv(2);
  PrefixCursor cursor = world.tree.enter("", match, kv);
  EXPECT_EQ(kv[0].live_blocks(), 6);
  EXPECT_EQ(kv[1].first_live(), 4) << "positions 77 to 95 are visible";
  world.tree.leave(cursor);
  for (size_t g = 0; g < 2; ++g) kv[g].clear(world.pools[g]);
  world.tree.check_integrity();
}

TEST(PrefixTree, SaltsShareNothingAndLeaveNoTrace) {
  World world({kFull});
  world.compute_and_end(tokens_of(32), "mine");
  EXPECT_EQ(world.tree.find("yours", tokens_of(32)).tokens(), 0);
  EXPECT_EQ(world.tree.find("", tokens_of(32)).tokens(), 0);
  EXPECT_EQ(world.tree.find("mine", tokens_of(32)).tokens(), 32);
  world.tree.forget_all_idle();
  EXPECT_EQ(world.tree.find("mine", tokens_of(32)).node, nullptr);
}

TEST(PrefixTree, WhatALongerBlockSaysIsKeptOnce) {
  World world({kFull});
  world.compute_and_end(tokens_of(20));
  world.compute_and_end(tokens_of(24));
  EXPECT_EQ(world.tree.nodes(), 2);
  world.compute_and_end(tokens_of(18));
  EXPECT_EQ(world.tree.nodes(), 2);
  world.compute_and_end(tokens_of(32));
  EXPECT_EQ(world.tree.nodes(), 2);
  EXPECT_EQ(world.pools[0].idle_blocks(), 2);
}

}  // namespace
}  // namespace arion
