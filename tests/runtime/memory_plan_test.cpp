// The memory plan against what a runner really takes.
#include "runtime/memory_plan.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "model/tiny_model.h"
#include "runtime/model_fixture.h"

namespace arion {
namespace {

Model describe(const std::string& bytes) {
  Model model = describe_model(test::open_in_memory(bytes));
  run_passes(model.graph, all_passes(), {});
  return model;
}

TEST(MemoryPlan, IsWhatARunnerTakes) {
  test::TinyModel tiny = test::tiny_shape("gemma3", 32);
  tiny.format = test::all_in("Q4_0");
  const std::string bytes = test::write_tiny_model(tiny);
  test::Setup setup;
  setup.sequences = 3;
  setup.context = 100;
  test::LoadedModel loaded(bytes, setup);
  const RunnerLimits limits{.context_tokens = 100, .sequences = 3};
  const MemoryPlan plan = plan_memory(describe(bytes), {}, limits, 2);
  EXPECT_EQ(plan.weight_bytes, loaded.runner().weights().total_bytes());
  ASSERT_EQ(plan.groups.size(), 2u);
  for (size_t g = 0; g < 2; ++g) {
    EXPECT_EQ(plan.groups[g].spec, loaded.runner().kv_groups()[g]);
    EXPECT_EQ(plan.groups[g].blocks, loaded.runner().pools()[g].blocks());
  }
  size_t arena = 0;
  for (const ExecutionPlan& p : loaded.runner().plans()) arena = std::max(arena, p.arena_bytes);
  EXPECT_EQ(plan.arena_bytes, arena);
  EXPECT_EQ(loaded.runner().max_step_tokens(), 300);
}

TEST(MemoryPlan, CountsKeysAndValuesPerToken) {
  const test::TinyModel tiny{.layers = 3, .hidden = 32, .feed_forward = 32, .vocab = 32};
  const std::string bytes = test::write_tiny_model(tiny);
  const Model model = describe(bytes);
  const size_t elements = 2 * 3 * 2 * 16;  // K and V, layers, heads, head size
  EXPECT_EQ(plan_memory(model, {}, {}, 1).kv_bytes_per_token(), 2 * elements);
  EXPECT_EQ(plan_memory(model, {.kv = DType::f32}, {}, 1).kv_bytes_per_token(), 4 * elements);
}

TEST(MemoryPlan, LogitsOfFewRowsTakeLess) {
  const test::TinyModel tiny{.hidden = 32, .feed_forward = 32, .vocab = 5000};
  const std::string bytes = test::write_tiny_model(tiny);
  const Model model = describe(bytes);
  const size_t all = plan_memory(model, {}, {.step_tokens = 512}, 2).arena_bytes;
  const size_t few = plan_memory(model, {}, {.step_tokens = 512, .logit_rows = 8}, 2).arena_bytes;
  EXPECT_GE(all, size_t{512} * 5000 * 4);
  EXPECT_LT(few, all / 10);
}

TEST(MemoryPlan, RefusesContextsThatCannotBe) {
  const test::TinyModel tiny{.hidden = 32, .feed_forward = 32, .vocab = 32, .context = 1 << 26};
  const std::string bytes = test::write_tiny_model(tiny);
  const Model model = describe(bytes);
  EXPECT_THROW(plan_memory(model, {}, {.context_tokens = (1 << 26) + 1}, 1), Error);
  EXPECT_THROW(plan_memory(model, {}, {.context_tokens = 1 << 26, .sequences = 1024}, 1), Error);
  EXPECT_EQ(resolve_limits(model, {}).context_tokens, 32768);
}

TEST(MemoryPlan, PlansGrowFromOneRowToAWholeStep) {
  const auto shapes = plan_shapes({.step_tokens = 512, .logit_rows = 64}, 2, DType::f16);
  ASSERT_EQ(shapes.size(), 3u);
  EXPECT_EQ(shapes[0].rows, 1);
  EXPECT_EQ(shapes[1].rows, 16);
  EXPECT_EQ(shapes[2].rows, 512);
  EXPECT_EQ(shapes[2].output_rows, 64);
  EXPECT_EQ(plan_shapes({.step_tokens = 1, .logit_rows = 1}, 2, DType::f16).size(), 1u);
  EXPECT_EQ(plan_shapes({.step_tokens = 9, .logit_rows = 9}, 2, DType::f16).size(), 2u);
}

}  // namespace
}  // namespace arion
