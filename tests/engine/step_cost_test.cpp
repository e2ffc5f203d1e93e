// The cost of steps, learnt from measured times.
#include "engine/step_cost.h"

#include <gtest/gtest.h>

namespace arion {
namespace {

TEST(StepCost, KnowsNothingAtFirst) {
  const StepCost cost;
  EXPECT_EQ(cost.decode_us(1), 0);
  EXPECT_EQ(cost.prompt_token_us(), 0);
}

TEST(StepCost, FindsWhatDecodingAndPromptsCost) {
  StepCost cost;
  cost.add({.prompt_tokens = 500}, 5000);  // 10 us each, and nothing else is known
  EXPECT_DOUBLE_EQ(cost.prompt_token_us(), 10);
  cost.add({.decode_tokens = 4, .prompt_tokens = 100}, 1600);
  EXPECT_DOUBLE_EQ(cost.decode_us(4), 600);
  EXPECT_DOUBLE_EQ(cost.decode_us(1), 600) << "the nearest that is known";
  for (int i = 0; i < 200; ++i) {
    cost.add({.decode_tokens = 1}, 300);
    cost.add({.decode_tokens = 4}, 400);
    cost.add({.decode_tokens = 4, .prompt_tokens = 50}, 400 + 50 * 20);
  }
  EXPECT_NEAR(cost.decode_us(1), 300, 1);
  EXPECT_NEAR(cost.decode_us(3), 400, 1);
  EXPECT_NEAR(cost.decode_us(100), 400, 1);
  EXPECT_NEAR(cost.prompt_token_us(), 20, 0.1);
}

TEST(StepCost, InterruptedStepsCountLittle) {
  StepCost cost;
  cost.add({.decode_tokens = 1}, 100);
  cost.add({.decode_tokens = 1}, 1e6);
  EXPECT_LE(cost.decode_us(1), 110.01);
}

TEST(StepCost, FreeTokensAreNotTakenForFree) {
  StepCost cost;
  cost.add({.decode_tokens = 1}, 100);
  cost.add({.decode_tokens = 1, .prompt_tokens = 10}, 90);
  EXPECT_GT(cost.prompt_token_us(), 2);
}

}  // namespace
}  // namespace arion
