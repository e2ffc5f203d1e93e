// The cost of steps, learnt from measured times.
#include "engine/step_cost.h"

#include <gtest/gtest.h>

#include <random>

namespace arion {
namespace {

StepLoad load_of_runs(std::initializer_list<std::pair<int, int>> runs) {
  StepLoad load;
  for (const auto& [first, count] : runs) load.add_run(first, count);
  return load;
}

// A machine: 3 ms for the weights, 100 us per token, 1 us per key read, 0.4 us per key seen.
double true_us(const StepLoad& load) {
  return 3000 + 100.0 * load.tokens + static_cast<double>(load.keys_read) +
         0.4 * static_cast<double>(load.keys_seen);
}

TEST(StepLoad, CountsKeysReadOncePerSequenceAndSeenByEveryToken) {
  const StepLoad load = load_of_runs({{10, 1}, {100, 3}});
  EXPECT_EQ(load.tokens, 4);
  EXPECT_EQ(load.keys_read, 11 + 103);
  EXPECT_EQ(load.keys_seen, 11 + 101 + 102 + 103);
}

TEST(StepCost, KnowsNothingAtFirst) {
  const StepCost cost;
  EXPECT_FALSE(cost.is_known());
  EXPECT_EQ(cost.us({.tokens = 1}), 0);
}

TEST(StepCost, OneStepIsEnoughForStepsLikeIt) {
  StepCost cost;
  const StepLoad load = load_of_runs({{0, 512}});
  cost.add(load, 5000);
  EXPECT_TRUE(cost.is_known());
  EXPECT_NEAR(cost.us(load), 5000, 50);
  EXPECT_EQ(cost.most_tokens(), 512);
}

// Prompts of any length beside up to 8 sequences that decode, with times 10 % apart.
TEST(StepCost, FindsWhatThePartsOfALoadTake) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
  StepCost cost;
  int depth = 0;
  for (int step = 0; step < 500; ++step) {
    StepLoad load;
    for (int i = 1 + below(8); i > 0; --i) load.add_run(step + below(50), 1);
    if (step % 3 > 0) {
      const int count = 1 + below(64);
      load.add_run(depth, count);
      depth = (depth + count) % 4096;
    }
    cost.add(load, true_us(load) * (0.95 + 0.001 * below(101)));
  }
  for (const StepLoad& load :
       {load_of_runs({{500, 1}, {500, 1}}), load_of_runs({{500, 1}, {2000, 8}}),
        load_of_runs({{500, 1}, {4000, 32}})}) {
    EXPECT_NEAR(cost.us(load), true_us(load), 0.15 * true_us(load)) << load.tokens;
  }
}

TEST(StepCost, InterruptedStepsCountLittle) {
  StepCost cost;
  for (int i = 0; i < 20; ++i) cost.add({.tokens = 1}, 100);
  cost.add({.tokens = 1}, 1e6);
  EXPECT_LE(cost.us({.tokens = 1}), 120);
}

TEST(StepCost, FollowsAMachineThatBecomesSlower) {
  StepCost cost;
  for (int i = 0; i < 100; ++i) cost.add({.tokens = 1}, 100);
  for (int i = 0; i < 100; ++i) cost.add({.tokens = 1}, 300);
  EXPECT_NEAR(cost.us({.tokens = 1}), 300, 30);
}

}  // namespace
}  // namespace arion
