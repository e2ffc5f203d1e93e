// The scheduling rule: budgets, order, preemption, windows.
#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/error.h"
#include "engine/scheduler_world.h"

namespace arion {
namespace {

using test::kFull;
using test::kWindow;
using test::StepRun;
using test::World;

TEST(Scheduler, ComputesThePromptInChunksAndAsksForLogitsAtItsEnd) {
  World world({.budget_tokens = 10}, {kFull}, {8});
  const Sequence& sequence = world.add(25);
  std::vector<int> counts;
  std::vector<LogitsRows> logits;
  for (int i = 0; i < 4; ++i) {
    const StepRun run = world.step().at(0);
    counts.push_back(run.count);
    logits.push_back(run.logits);
  }
  EXPECT_EQ(counts, (std::vector<int>{10, 10, 5, 1}));
  EXPECT_EQ(logits, (std::vector<LogitsRows>{LogitsRows::none, LogitsRows::none, LogitsRows::last,
                                             LogitsRows::last}));
  EXPECT_EQ(sequence.computed, 26);
}

TEST(Scheduler, ALongPromptLeavesEveryOtherSequenceItsToken) {
  World world({.budget_tokens = 16}, {kFull}, {100});
  world.add(100);
  world.add(2);
  world.add(3);
  for (int i = 0; i < 7; ++i) world.step();  // the first prompt is done, the others have begun
  world.add(300);
  world.step();
  world.add(5);
  const std::vector<StepRun> runs = world.step();
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[0].count, 1);
  EXPECT_EQ(runs[3].count, 13) << "the long prompt takes what the others leave";
  World young({.budget_tokens = 16}, {kFull}, {100});
  young.add(300, LogitsRows::none);
  young.add(300, LogitsRows::none);
  young.step();
  EXPECT_EQ(young.step().size(), 1u) << "no budget is left to start the second";
}

TEST(Scheduler, RowsOfLogitsHaveABudgetOfTheirOwn) {
  World world({.budget_tokens = 100, .budget_logit_rows = 7}, {kFull}, {100});
  world.add(20, LogitsRows::all);
  world.add(4);
  world.step();
  const std::vector<StepRun> runs = world.step();
  int rows = 0;
  for (const StepRun& run : runs) rows += run.logit_rows();
  EXPECT_LE(rows, 7);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].count, 6);
  EXPECT_EQ(runs[1].logits, LogitsRows::last);
}

TEST(Scheduler, WaitsInOrderOfArrivalForSequencesAndBlocks) {
  World world({.max_sequences = 2}, {kFull}, {10});
  world.add(16);
  world.add(16 * 9);
  world.add(16);
  std::vector<StepRun> runs = world.step();
  ASSERT_EQ(runs.size(), 1u) << "nine blocks and one for the first's growth do not fit";
  EXPECT_EQ(world.scheduler.waiting(), 2) << "nobody overtakes";
  world.sequences[0]->state = Sequence::State::finished;
  world.step();
  EXPECT_EQ(world.step().at(0).sequence, world.sequences[1].get());
}

TEST(Scheduler, PreemptsTheYoungestAndLetsTheOldestFinish) {
  World world({}, {kFull}, {6});
  Sequence& old_one = world.add(16 * 2 - 1);
  Sequence& young = world.add(16 * 1 - 1);
  while (young.preemptions == 0) {
    ASSERT_LT(old_one.size(), 200);
    world.step();
  }
  EXPECT_EQ(young.state, Sequence::State::waiting);
  EXPECT_EQ(young.computed, 0);
  EXPECT_EQ(young.kv[0].live_blocks(), 0);
  EXPECT_EQ(old_one.preemptions, 0);
  old_one.state = Sequence::State::finished;
  world.step();
  const int known = young.size();
  EXPECT_EQ(world.step().at(0).first, 16) << "the old one has taken the blocks behind";
  EXPECT_EQ(young.computed, known);
}

TEST(Scheduler, WindowGroupsHoldOnlyTheWindow) {
  World world({.budget_tokens = 16}, {kWindow}, {4});
  EXPECT_GT(world.scheduler.max_sequence_tokens(), 1 << 20);
  const Sequence& sequence = world.add(500);
  int most = 0;
  while (sequence.size() < 520) {
    world.step();
    most = std::max(most, sequence.kv[0].live_blocks());
  }
  EXPECT_LE(most, 4);
  EXPECT_GT(sequence.kv[0].first_live(), 28);
}

TEST(Scheduler, CancelledSequencesGiveEverythingBack) {
  World world({}, {kFull, kWindow}, {50, 50});
  Sequence& running = world.add(100);
  world.step();
  Sequence& waiting = world.add(10);
  world.scheduler.cancel(waiting);
  world.scheduler.cancel(running);
  EXPECT_EQ(running.state, Sequence::State::finished);
  EXPECT_EQ(world.pools[0].available_blocks() + world.pools[1].available_blocks(), 100);
  EXPECT_TRUE(world.plan().empty());
}

// Steps take 200 us and 10 us per token.
StepCost known_cost() {
  StepCost cost;
  for (int i = 0; i < 50; ++i) {
    cost.add({.tokens = 1}, 210);
    cost.add({.tokens = 101}, 1210);
  }
  return cost;
}

TEST(Scheduler, StepsThatOthersWaitForAreCutToTheTargetTime) {
  World world({.budget_tokens = 512, .target_step_us = 1000}, {kFull}, {200});
  world.add(5);
  world.step();  // now it decodes
  world.add(1000);
  const BatchPlan& plan = world.scheduler.plan(0, known_cost());
  EXPECT_NEAR(plan.tokens(), 80, 1);
  world.scheduler.commit();
}

TEST(Scheduler, PromptsSlowDecodingDownAsFarAsTheyMay) {
  const auto tokens_beside = [](const StepCost& cost) {
    World world({.budget_tokens = 512, .decode_slowdown = 2}, {kFull}, {200});
    world.add(5);
    world.step();
    world.add(1000);
    const int tokens = world.scheduler.plan(0, cost).tokens();
    world.scheduler.commit();
    return tokens;
  };
  EXPECT_NEAR(tokens_beside(known_cost()), 22, 1);
  EXPECT_EQ(tokens_beside(StepCost{}), 512) << "nothing is known yet";
}

TEST(Scheduler, CompanionsStartArePreemptedAndEndTogether) {
  World world({}, {kFull}, {8});
  EXPECT_EQ(world.scheduler.max_pair_tokens(), 64);
  EXPECT_THROW(world.add_pair(5, 65), std::logic_error);
  Sequence& old_one = world.add(16 * 3 - 1);
  Sequence& young = world.add_pair(16 - 1, 3);
  Sequence& companion = *young.companion;
  EXPECT_EQ(world.step().size(), 3u);
  while (young.preemptions == 0) {
    ASSERT_LT(old_one.size(), 200);
    EXPECT_EQ(companion.state, Sequence::State::running);
    world.step();
  }
  for (const Sequence* member : {&young, &companion}) {
    EXPECT_EQ(member->state, Sequence::State::waiting);
    EXPECT_EQ(member->computed, 0);
    EXPECT_EQ(member->kv[0].live_blocks(), 0);
  }
  EXPECT_EQ(world.scheduler.waiting(), 1);
  old_one.state = Sequence::State::finished;
  world.step();
  EXPECT_EQ(world.step().size(), 2u);
  young.state = Sequence::State::finished;
  world.step();
  EXPECT_EQ(companion.state, Sequence::State::finished);
  EXPECT_EQ(world.pools[0].available_blocks(), 8);
}

TEST(Scheduler, RefusesLimitsThatAllowNoStep) {
  EXPECT_THROW(World({.max_sequences = 0}, {kFull}, {1}), Error);
  EXPECT_THROW(World({.budget_tokens = 0}, {kFull}, {1}), Error);
  EXPECT_THROW(World({}, {kFull}, {0}), Error);
  World world({}, {kFull}, {2});
  EXPECT_EQ(world.scheduler.max_sequence_tokens(), 32);
  EXPECT_THROW(world.add(33), std::logic_error);
}

}  // namespace
}  // namespace arion
