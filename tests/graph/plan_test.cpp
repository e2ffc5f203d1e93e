// Arena layout and barriers of real plans, and their refusal when one is missing.
#include "graph/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "backend/reference_kernels.h"
#include "base/error.h"
#include "graph/arena_layout.h"
#include "graph/pass.h"
#include "model/model.h"
#include "model/tiny_model.h"

namespace arion {
namespace {

// A model with its weights packed, planned for the scalar reference.
struct PlannedModel {
  explicit PlannedModel(const test::TinyModel& tiny, const char* passes = "all")
      : bytes(test::write_tiny_model(tiny)), model(describe_model(test::open_in_memory(bytes))) {
    run_passes(model.graph, select_passes(passes), {});
    register_reference_kernels(kernels);
    weights = std::make_unique<PackedWeights>(model.graph, pool, nullptr);
  }
  ExecutionPlan plan(const PlanShape& shape, std::byte* arena = nullptr) const {
    return Planner(model.graph, *weights, kernels).plan(shape, arena);
  }

  std::string bytes;
  Model model;
  KernelRegistry kernels;
  WorkerPool pool{1};
  std::unique_ptr<PackedWeights> weights;
};

test::TinyModel small(const char* arch, const char* format) {
  test::TinyModel tiny{.arch = arch, .layers = 3};
  tiny.format = test::all_in(format);
  if (tiny.arch == "gemma3") {
    tiny.window = 16;
    tiny.window_period = 3;
  }
  return tiny;
}

std::vector<PlanShape> shapes() {
  std::vector<PlanShape> all;
  for (int rows : {1, 2, 16, 17, 63, 512}) {
    for (int workers : {1, 2, 3, 8}) {
      for (int output_rows : std::set<int>{1, rows}) {
        all.push_back({.rows = rows, .output_rows = output_rows, .workers = workers});
      }
    }
  }
  return all;
}

// Steps grouped by the barriers between them.
std::vector<int> phases(const ExecutionPlan& plan) {
  std::vector<int> phase;
  for (const PlanStep& step : plan.steps) {
    phase.push_back((phase.empty() ? 0 : phase.back()) + (step.has_barrier ? 1 : 0));
  }
  return phase;
}

// Counts pairs of values that share memory; fails unless a barrier separates their lives.
int check_arena(const Graph& graph, const ExecutionPlan& plan) {
  const ArenaLayout layout = lay_out_arena(graph, plan.shape);
  EXPECT_EQ(layout.bytes, plan.arena_bytes);
  const std::vector<int> phase = phases(plan);
  struct Life {
    int first = -1, last = -1;
  };
  std::vector<Life> lives(graph.values.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId id : graph.nodes[n].outputs)
      lives[static_cast<size_t>(id.index)] = {phase[n], phase[n]};
    for (ValueId id : graph.nodes[n].inputs) {
      if (id) lives[static_cast<size_t>(id.index)].last = phase[n];
    }
  }
  lives[static_cast<size_t>(graph.logits.index)].last = phase.back();
  int shared = 0;
  for (size_t a = 0; a < lives.size(); ++a) {
    const ArenaSlot& slot = layout.slots[a];
    if (lives[a].first < 0) continue;
    EXPECT_EQ(slot.offset % 64, 0u);
    EXPECT_LE(slot.offset + slot.bytes, layout.bytes);
    const Value& value = graph.values[a];
    const int rows = value.rows == RowsKind::output ? plan.shape.output_rows : plan.shape.rows;
    const size_t copies = slot.stride != 0 ? static_cast<size_t>(plan.shape.workers) : 1;
    EXPECT_GE(slot.bytes, copies * activation_bytes(value.form, rows, value.cols));
    for (size_t b = a + 1; b < lives.size(); ++b) {
      const ArenaSlot& other = layout.slots[b];
      if (lives[b].first < 0) continue;
      if (slot.offset + slot.bytes <= other.offset || other.offset + other.bytes <= slot.offset)
        continue;
      ++shared;
      EXPECT_TRUE(lives[a].last < lives[b].first || lives[b].last < lives[a].first)
          << "values " << a << " and " << b;
    }
  }
  return shared;
}

TEST(ArenaLayout, ValuesShareMemoryOnlyAcrossABarrier) {
  for (const char* arch : {"llama", "gemma3"}) {
    for (const char* passes : {"all", "none", "-fuse_norm", "-fuse_head,-fuse_convert"}) {
      const PlannedModel planned(small(arch, "Q4_0"), passes);
      for (const PlanShape& shape : shapes()) {
        const int shared = check_arena(planned.model.graph, planned.plan(shape));
        EXPECT_GT(shared, 0) << "memory is never reused";
      }
    }
  }
}

TEST(ArenaLayout, DoesNotGrowWithTheNumberOfLayers) {
  test::TinyModel tiny = small("llama", "Q4_0");
  const size_t three = PlannedModel(tiny).plan({.rows = 64, .workers = 2}).arena_bytes;
  tiny.layers = 12;
  EXPECT_EQ(PlannedModel(tiny).plan({.rows = 64, .workers = 2}).arena_bytes, three);
}

TEST(Plan, IsRefusedWithAnyOneBarrierRemoved) {
  for (const char* arch : {"llama", "gemma3"}) {
    for (const char* passes : {"all", "none", "-fuse_norm"}) {
      const PlannedModel planned(small(arch, "Q4_0"), passes);
      for (const PlanShape& shape : shapes()) {
        ExecutionPlan plan = planned.plan(shape);
        int barriers = 0;
        for (PlanStep& step : plan.steps) {
          if (!step.has_barrier) continue;
          ++barriers;
          step.has_barrier = false;
          EXPECT_THROW(verify_barriers(plan), std::logic_error) << op_name(step.kind);
          step.has_barrier = true;
        }
        EXPECT_NO_THROW(verify_barriers(plan));
        EXPECT_GE(barriers, 5 * 3) << "fewer barriers than real dependencies";
      }
    }
  }
}

TEST(Plan, HasAtMostFiveBarriersPerLayerWhenDecoding) {
  for (const char* arch : {"llama", "qwen2", "qwen3", "gemma3"}) {
    test::TinyModel tiny = small(arch, "Q4_0");
    auto barriers = [&](int layers) {
      tiny.layers = layers;
      const PlannedModel planned(tiny);
      return phases(planned.plan({.rows = 1, .workers = 2})).back();
    };
    EXPECT_EQ(barriers(9) - barriers(8), 5) << arch;
  }
}

TEST(Plan, NamesTheStepsThatConflict) {
  const PlannedModel planned(small("llama", "Q4_0"));
  ExecutionPlan plan = planned.plan({.rows = 1, .workers = 2});
  const auto attention = std::ranges::find(plan.steps, OpKind::attention, &PlanStep::kind);
  ASSERT_TRUE(attention->has_barrier);
  attention->has_barrier = false;
  try {
    verify_barriers(plan);
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("(attention, layer 0)"), std::string::npos)
        << error.what();
  }
}

TEST(Plan, CountsWhatAStepReadsAndComputes) {
  test::TinyModel tiny = small("llama", "F32");
  const PlannedModel planned(tiny);
  const ExecutionPlan plan = planned.plan({.rows = 4, .output_rows = 2, .workers = 2});
  const PlanStep& head = plan.steps.back();
  EXPECT_EQ(head.kind, OpKind::linear);
  EXPECT_EQ(head.rows, RowsKind::output);
  EXPECT_EQ(head.multiply_adds, static_cast<size_t>(tiny.vocab * tiny.hidden));
  EXPECT_EQ(head.weight_bytes, static_cast<size_t>(tiny.vocab * tiny.hidden) * sizeof(float));
}

TEST(Plan, NamesTheOperationThatHasNoKernel) {
  PlannedModel planned(small("llama", "Q4_0"));
  planned.kernels = KernelRegistry();
  try {
    planned.plan({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find("embed"), std::string::npos) << error.what();
  }
}

TEST(Access, ConflictsWhereOneWritesWhatTheOtherTouches) {
  const Access write{.begin = 0, .end = 64, .is_write = true};
  const Access read{.begin = 32, .end = 96};
  EXPECT_TRUE(write.conflicts_with(read));
  EXPECT_TRUE(read.conflicts_with(write));
  EXPECT_TRUE(write.conflicts_with(write));
  EXPECT_FALSE(read.conflicts_with(read));
  EXPECT_FALSE(write.conflicts_with({.begin = 64, .end = 128, .is_write = true}));
  EXPECT_FALSE(write.conflicts_with({.space = Access::Space::keys, .begin = 0, .end = 64}));
}

TEST(Access, CopiesOfOneValueConflictWithOtherValuesOnly) {
  const Access write{.begin = 0, .end = 64, .is_write = true, .is_private = true};
  EXPECT_FALSE(write.conflicts_with({.begin = 0, .end = 64, .is_private = true}));
  EXPECT_TRUE(write.conflicts_with({.begin = 0, .end = 64}));
  EXPECT_TRUE(write.conflicts_with({.begin = 0, .end = 128, .is_private = true}));
}

TEST(PackedWeights, TakeTheBytesAnnouncedAndReportEveryTensor) {
  const std::string bytes = test::write_tiny_model(small("qwen2", "Q8_0"));
  const Model model = describe_model(test::open_in_memory(bytes));
  WorkerPool pool(2);
  std::vector<std::string> packed;
  const PackedWeights weights(model.graph, pool,
                              [&](const Weight& weight) { packed.push_back(weight.name); });
  EXPECT_EQ(weights.total_bytes(), packed_bytes(model.graph));
  EXPECT_EQ(packed.size(), model.graph.weights.size());
  const std::vector<bool> is_matrix = find_matrices(model.graph);
  for (size_t w = 0; w < packed.size(); ++w) {
    const WeightId id{static_cast<int>(w)};
    const Weight& weight = model.graph.weight(id);
    EXPECT_EQ(is_matrix[w], weight.rows > 1) << weight.name;
    std::vector<float> expected(static_cast<size_t>(weight.cols)), got = expected;
    if (!is_matrix[w]) {
      weight.format->decode_row(weight.data, expected);
      EXPECT_TRUE(std::ranges::equal(expected, std::span(weights.vector(id), expected.size())));
      continue;
    }
    const int row = weight.rows - 1;
    const size_t row_bytes = weight.format->row_bytes(weight.cols);
    weight.format->decode_row(weight.data.last(row_bytes), expected);
    const PanelMatrix& matrix = weights.matrix(id);
    const size_t panel = panel_bytes(matrix.spec, matrix.cols);
    weight.format->unpack_row(
        {matrix.panels + static_cast<size_t>(row / kPanelRows) * panel, panel}, row % kPanelRows,
        got);
    EXPECT_EQ(expected, got) << weight.name;
  }
}

}  // namespace
}  // namespace arion
