// The cost of a step, fitted to measured times.
#include "engine/step_cost_fit.h"

#include <gtest/gtest.h>

namespace arion {
namespace {

TEST(StepCostFit, FindsFixedAndPerTokenCost) {
  StepCostFit fit;
  EXPECT_EQ(fit.cost().us_per_token, 0);
  fit.add(10, 500);
  EXPECT_DOUBLE_EQ(fit.cost().us_per_token, 50);
  for (int i = 0; i < 400; ++i) fit.add(i % 7 + 1, 100 + 20 * (i % 7 + 1));
  EXPECT_NEAR(fit.cost().fixed_us, 100, 1);
  EXPECT_NEAR(fit.cost().us_per_token, 20, 1);
}

}  // namespace
}  // namespace arion
