// Attention of every level against the double-precision reference, and its invariances bit by bit.
#include <atomic>
#include <memory>
#include <thread>

#include "base/half.h"
#include "cpu/levels.h"
#include "op/step.h"

namespace arion::test {
namespace {

struct Shape {
  int heads = 1, kv_heads = 1, head_dim = 64, window = 0;
  DType type = DType::f16;
};

// Sequence number `id` of a test: all its numbers are functions of id, position, head and d.
struct Sequence {
  uint32_t id = 0;
  TestRun rows;
};

constexpr int kLayer = 1;

AttentionAttributes attributes_of(const Shape& shape) {
  return {.heads = shape.heads,
          .kv_heads = shape.kv_heads,
          .head_dim = shape.head_dim,
          .window = shape.window,
          .scale = 0.37f,
          .kv_group = 0,
          .kv_layer = kLayer};
}

// A step over some sequences whose visible keys and values are stored; all else stays NaN, block
// ids of blocks nobody sees included.
class AttentionStep {
 public:
  AttentionStep(const Shape& shape, const std::vector<Sequence>& sequences, uint32_t seed = 1)
      : shape_(shape),
        step_(runs_of(sequences), {group_of(shape)}, seed),
        q_(step_.rows(), shape.heads * shape.head_dim) {
    int row = 0;
    for (size_t run = 0; run < sequences.size(); ++run) {
      const Sequence& s = sequences[run];
      const int last = s.rows.first + s.rows.rows - 1;
      const int first = shape.window == 0 ? 0 : std::max(0, s.rows.first - shape.window + 1);
      for (int position = first; position <= last; ++position) store(s.id, run, position);
      for (int i = 0; i < s.rows.rows; ++i, ++row) set_query(row, s.id, s.rows.first + i);
    }
  }

  Matrix run(const Implementation& level, int workers = 2) const {
    Matrix out(step_.rows(), shape_.heads * shape_.head_dim);
    run_into(level, {.f32 = out.ref()}, workers);
    return out;
  }
  void run_into(const Implementation& level, const Outputs& out, int workers = 2) const {
    const AttentionArgs args{.attributes = attributes_of(shape_), .q = q_.ref(), .out = out};
    run_op(level, {.kind = OpKind::attention, .kv = shape_.type}, &args, step_.input(), workers);
  }
  Step& step() { return step_; }
  const Matrix& q() const { return q_; }

 private:
  static std::vector<TestRun> runs_of(const std::vector<Sequence>& sequences) {
    std::vector<TestRun> runs;
    for (const Sequence& s : sequences) runs.push_back(s.rows);
    return runs;
  }
  static GroupShape group_of(const Shape& shape) {
    return {
        .type = shape.type, .kv_heads = shape.kv_heads, .head_dim = shape.head_dim, .layers = 2};
  }
  void store(uint32_t id, size_t run, int position) {
    for (int head = 0; head < shape_.kv_heads; ++head) {
      for (int d = 0; d < shape_.head_dim; ++d) {
        for (const bool is_key : {true, false}) {
          step_.set_element(
              step_.element(0, kLayer, static_cast<int>(run), position, head, is_key, d),
              shape_.type, noise(is_key ? 11 : 12, id, position, head, d));
        }
      }
    }
  }
  void set_query(int row, uint32_t id, int position) {
    std::vector<float> q(shape_.heads * shape_.head_dim);
    for (size_t c = 0; c < q.size(); ++c) {
      q[c] = 3 * noise(13, id, position, static_cast<uint32_t>(c));
    }
    q_.set_row(row, q);
  }

  Shape shape_;
  Step step_;
  Matrix q_;
};

// Scores are sums of head_dim products below 3 in magnitude, times the scale; their error becomes a
// relative error of the weights. Sums over up to 1,300 keys add their roundings; values are
// below 1.
double attention_bound(const Shape& shape, int keys) {
  const double score = 0.37 * 3 * shape.head_dim;
  return kEpsilon * (2 * score * std::sqrt(shape.head_dim) + 2 * std::sqrt(keys) + 16);
}

void expect_matches_reference(const Shape& shape, const std::vector<Sequence>& sequences) {
  const AttentionStep step(shape, sequences);
  int keys = 0;
  for (const Sequence& s : sequences) keys = std::max(keys, s.rows.first + s.rows.rows);
  on_every_level<Matrix>(
      [&](const Implementation& level, int workers) { return step.run(level, workers); },
      [&](const Matrix& got, const Matrix& want) {
        expect_near(got, want, 0, attention_bound(shape, keys));
      });
}

TEST(CpuAttention, MatchesTheReferenceForEveryShape) {
  for (const auto& [heads, kv_heads] :
       {std::pair{1, 1}, {3, 1}, {4, 1}, {16, 2}, {9, 3}, {40, 1}}) {
    for (const int head_dim : {8, 64, 80, 256}) {
      for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
        SCOPED_TRACE(testing::Message()
                     << heads << " heads, " << kv_heads << " kv heads, dimension " << head_dim
                     << ", " << dtype_name(type));
        const Shape shape{heads, kv_heads, head_dim, 0, type};
        expect_matches_reference(shape, {{1, {70, 1}}, {2, {0, 5}}, {3, {60, 9}}});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(CpuAttention, MatchesTheReferenceForOddDimensions) {
  for (const int head_dim : {2, 10, 16, 18, 96, 128, 512}) {
    SCOPED_TRACE(head_dim);
    expect_matches_reference({4, 2, head_dim}, {{1, {130, 3}}, {2, {20, 1}}});
  }
}

TEST(CpuAttention, MatchesTheReferenceAtTheEdgesOfTilesSplitsAndWindows) {
  for (const int window : {0, 1, 16, 512}) {
    for (const int position : {0, 63, 64, 511, 512, 513, 1300}) {
      SCOPED_TRACE(testing::Message() << "position " << position << ", window " << window);
      expect_matches_reference({2, 1, 16, window, DType::f16}, {{1, {position, 1}}});
      expect_matches_reference({2, 1, 16, window, DType::f32},
                               {{1, {std::max(0, position - 20), 23}}});
      if (HasFatalFailure()) return;
    }
  }
}

// Row by row equal to what `whole` gave for the same position of the same sequence.
void expect_rows_equal(const Matrix& part, int part_row, const Matrix& whole, int whole_row) {
  ASSERT_EQ(part.values(part_row), whole.values(whole_row))
      << "row " << part_row << " of the part, row " << whole_row << " of the whole";
}

TEST(CpuAttention, PromptsMayBeCutAnywhere) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    for (const int window : {0, 16, 100}) {
      const Shape shape{3, 1, 16, window, type};
      const int length = 600;
      for (const Implementation& level : cpu_levels()) {
        const Matrix whole = AttentionStep(shape, {{5, {0, length}}}).run(level);
        for (const int size : {1, 7, 64, 200}) {
          // All positions for the larger sizes; for the smallest, those around the split.
          for (int first = size == 1 ? 500 : 0; first < length; first += size) {
            const int rows = std::min(size, length - first);
            const Matrix part = AttentionStep(shape, {{5, {first, rows}}}, first).run(level);
            for (int r = 0; r < rows; ++r) expect_rows_equal(part, r, whole, first + r);
            if (HasFatalFailure() || (size == 1 && first > 530)) break;
          }
        }
      }
    }
  }
}

TEST(CpuAttention, OtherSequencesAndBlockIdsChangeNothing) {
  const Shape shape{4, 2, 32, 0, DType::f16};
  for (const Implementation& level : cpu_levels()) {
    const Matrix alone = AttentionStep(shape, {{5, {520, 3}}}).run(level);
    for (const uint32_t seed : {2u, 3u, 4u}) {
      const Matrix among =
          AttentionStep(shape, {{1, {0, 40}}, {5, {520, 3}}, {2, {99, 1}}, {3, {513, 17}}}, seed)
              .run(level);
      for (int r = 0; r < 3; ++r) expect_rows_equal(alone, r, among, 40 + r);
    }
  }
}

TEST(CpuAttention, PartitionsChangeNothing) {
  const Shape shape{6, 2, 16, 0, DType::f16};
  const AttentionStep step(shape, {{1, {90, 40}}, {2, {5, 1}}});
  for (const Implementation& level : cpu_levels()) {
    const Matrix want = step.run(level, 1);
    const Kernel& kernel = level.registry.best({.kind = OpKind::attention, .kv = shape.type});
    AttentionStep other(shape, {{1, {90, 40}}, {2, {5, 1}}});
    for (const int chunks : {1, 2, 3, 5, 17, 64, 1000}) {
      Matrix got(41, 6 * 16);
      const AttentionArgs args{
          .attributes = attributes_of(shape), .q = other.q().ref(), .out = {.f32 = got.ref()}};
      const Memory scratch(kScratchBytes);
      std::memset(scratch.data(), kPoison, scratch.size());
      for (int chunk = 0; chunk < chunks; ++chunk) {
        kernel.run(&args, other.step().input(), chunk, chunks,
                   {.count = chunks / 3 + 1, .scratch = scratch.data()});
      }
      EXPECT_TRUE(got == want) << level.name << ", " << chunks << " chunks";
    }
  }
}

// Workers that compute splits of one context, each on a thread of its own, in any order.
TEST(CpuAttention, WorkersThatShareAContextChangeNothing) {
  const auto shared = std::make_unique<SharedScratch>();
  for (const auto& [heads, kv_heads] : {std::pair{9, 3}, {4, 1}, {1, 1}}) {
    for (const int window : {0, 1500}) {
      const Shape shape{heads, kv_heads, 18, window, DType::f16};
      AttentionStep step(shape, {{1, {2300, 2}}, {2, {700, 1}}});
      for (const Implementation& level : cpu_levels()) {
        const Matrix want = step.run(level, 1);
        const Kernel& kernel = level.registry.best({.kind = OpKind::attention, .kv = shape.type});
        for (const int chunks : {2, 3, 7, 20}) {
          constexpr int kWorkers = 3;
          Matrix got(3, heads * 18);
          const AttentionArgs args{
              .attributes = attributes_of(shape), .q = step.q().ref(), .out = {.f32 = got.ref()}};
          std::atomic<int> next{0};
          std::vector<std::thread> threads;
          for (int w = 0; w < kWorkers; ++w) {
            threads.emplace_back([&, w] {
              const Memory scratch(kScratchBytes);
              std::memset(scratch.data(), kPoison, scratch.size());
              const Worker worker{
                  .index = w, .count = kWorkers, .scratch = scratch.data(), .shared = shared.get()};
              for (int c = next++; c < chunks; c = next++) {
                kernel.run(&args, step.step().input(), c, chunks, worker);
              }
            });
          }
          for (std::thread& thread : threads) thread.join();
          EXPECT_TRUE(got == want) << level.name << ", " << chunks << " chunks";
        }
      }
    }
  }
  for (const auto& counter : shared->counters) EXPECT_EQ(counter.arrived, 0);
}

// Chunks that write something.
int busy_chunks(const Kernel& kernel, const Shape& shape, AttentionStep& step, int rows,
                int workers) {
  const Memory scratch(kScratchBytes);
  const Matrix nothing(rows, shape.heads * shape.head_dim);
  AttentionArgs args{.attributes = attributes_of(shape), .q = step.q().ref()};
  const int chunks = kernel.chunks(&args, step.step().input(), workers);
  int busy = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    Matrix out(rows, shape.heads * shape.head_dim);
    args.out = {.f32 = out.ref()};
    kernel.run(&args, step.step().input(), chunk, chunks,
               {.count = workers, .scratch = scratch.data()});
    busy += out == nothing ? 0 : 1;
  }
  return busy;
}

TEST(CpuAttention, TwoWorkersShareOneKvHead) {
  const Shape shape{4, 1, 256, 0, DType::f16};
  AttentionStep step(shape, {{1, {300, 1}}});
  for (const Implementation& level : cpu_levels()) {
    const Kernel& kernel = level.registry.best({.kind = OpKind::attention, .kv = shape.type});
    EXPECT_EQ(busy_chunks(kernel, shape, step, 1, 2), 2) << level.name;
    EXPECT_EQ(busy_chunks(kernel, shape, step, 1, 1), 1) << level.name;
  }
}

TEST(CpuAttention, TwoWorkersShareThreeKvHeadsOfSeveralRowsEvenly) {
  const Shape shape{9, 3, 64, 0, DType::f16};
  AttentionStep step(shape, {{1, {1000, 4}}});
  for (const Implementation& level : cpu_levels()) {
    const Kernel& kernel = level.registry.best({.kind = OpKind::attention, .kv = shape.type});
    EXPECT_GE(busy_chunks(kernel, shape, step, 4, 2), 6) << level.name;
  }
}

TEST(CpuAttention, WritesTheFormsConvertWouldMake) {
  const Shape shape{3, 1, 64, 0, DType::f16};
  const AttentionStep step(shape, {{1, {60, 20}}});
  const Step rows({{0, 20}});
  for (const Implementation& level : cpu_levels()) {
    Matrix f32(20, 192), bf16(ActivationForm::bf16, 20, 192), int8(ActivationForm::int8, 20, 192);
    step.run_into(level, {.f32 = f32.ref(), .bf16 = bf16.ref(), .int8 = int8.ref()});
    Matrix want_bf16(ActivationForm::bf16, 20, 192), want_int8(ActivationForm::int8, 20, 192);
    const ConvertArgs convert{
        .cols = 192, .x = f32.ref(), .out = {.bf16 = want_bf16.ref(), .int8 = want_int8.ref()}};
    run_op(level, {.kind = OpKind::convert}, &convert, rows.input());
    EXPECT_TRUE(bf16 == want_bf16) << level.name;
    EXPECT_TRUE(int8 == want_int8) << level.name;
  }
}

// Rows that want logits may lie far apart, with windows that do not touch.
TEST(CpuAttention, OutputRowsMayHaveGaps) {
  for (const int window : {0, 1, 20}) {
    const Shape shape{2, 1, 32, window, DType::f16};
    for (const Implementation& level : cpu_levels()) {
      AttentionStep step(shape, {{4, {0, 700}}});
      const Matrix whole = step.run(level);
      const std::vector<int32_t> picked{0, 3, 63, 300, 301, 699};
      step.step().select(picked);
      Matrix q(static_cast<int>(picked.size()), 64), out(static_cast<int>(picked.size()), 64);
      for (size_t i = 0; i < picked.size(); ++i) {
        const std::vector<double> row = step.q().values(picked[i]);
        q.set_row(static_cast<int>(i), std::vector<float>(row.begin(), row.end()));
      }
      const AttentionArgs args{.rows = RowsKind::output,
                               .attributes = attributes_of(shape),
                               .q = q.ref(),
                               .out = {.f32 = out.ref()}};
      run_op(level, {.kind = OpKind::attention, .kv = shape.type}, &args, step.step().input());
      for (size_t i = 0; i < picked.size(); ++i) {
        expect_rows_equal(out, static_cast<int>(i), whole, picked[i]);
      }
    }
  }
}

TEST(CpuAttention, BlocksBehindTheWindowMayHaveAnyId) {
  const Shape shape{2, 1, 16, 32, DType::f16};
  AttentionStep step(shape, {{1, {200, 10}}});
  const Matrix want = step.run(cpu_levels().front());
  auto* table = const_cast<int32_t*>(step.step().input().block_table(0, 0));
  for (int block = 0; (block + 1) * kBlockTokens <= 200 - 31; ++block) table[block] = INT32_MIN;
  for (const Implementation& level : cpu_levels()) EXPECT_TRUE(step.run(level) == want);
}

// The largest halves: scores overflow no earlier than the exact ones, and weights stay finite.
TEST(CpuAttention, SaturatedHalvesStayFinite) {
  Step step({{2, 1}}, {{.type = DType::f16, .head_dim = 16}});
  const Matrix x = noise_matrix(1, 1, 16, 1e7f);
  for (const Implementation& level : cpu_levels()) {
    for (int position = 0; position < 3; ++position) {
      const Step writer({{position, 1}}, {});
      StepInput input = writer.input();
      input.kv = step.input().kv;
      input.groups = 1;
      input.block_tables = step.input().block_tables;
      for (const HeadRole role : {HeadRole::key, HeadRole::value}) {
        const HeadArgs args{
            .role = role, .heads = 1, .head_dim = 16, .x = x.ref(), .writes_kv = true};
        run_op(level, {.kind = OpKind::kv_write, .kv = DType::f16}, &args, input);
      }
    }
    const Matrix q = noise_matrix(2, 1, 16);
    Matrix out(1, 16);
    const AttentionArgs args{.attributes = {.heads = 1, .kv_heads = 1, .head_dim = 16},
                             .q = q.ref(),
                             .out = {.f32 = out.ref()}};
    run_op(level, {.kind = OpKind::attention, .kv = DType::f16}, &args, step.input());
    for (int d = 0; d < 16; ++d) {
      const float want = std::clamp(x.values(0)[d], -65504.0, 65504.0);
      EXPECT_NEAR(out.row(0)[d], half_to_float(float_to_half(want)), 0.01);
    }
  }
}

}  // namespace
}  // namespace arion::test
