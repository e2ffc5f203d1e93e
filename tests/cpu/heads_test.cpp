// head_norm, rope and kv_write of every level against the reference.
#include "cpu/levels.h"
#include "op/step.h"

namespace arion::test {
namespace {

struct HeadResult {
  Matrix out;
  std::vector<std::byte> pool;
  bool operator==(const HeadResult&) const = default;
};

struct HeadCase {
  int head_dim, pairs;
  RopePairing pairing;
  DType type;
};

std::vector<HeadCase> head_cases() {
  std::vector<HeadCase> cases;
  using enum RopePairing;
  for (const auto& [head_dim, pairs] :
       {std::pair{8, 4}, {8, 2}, {64, 32}, {80, 16}, {96, 48}, {128, 64}, {256, 128}, {10, 5}}) {
    for (const RopePairing pairing : {adjacent, half_split}) {
      for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
        cases.push_back({head_dim, pairs, pairing, type});
      }
    }
  }
  return cases;
}

constexpr int kHeads = 3;

// Rows of two runs, at positions that cross a block; the second of two layers is written.
HeadResult run_heads(const Implementation& level, int workers, const HeadCase& c, HeadRole role) {
  const Step step({{13, 5}, {0, 2}},
                  {{.type = c.type, .kv_heads = kHeads, .head_dim = c.head_dim, .layers = 2}});
  const int rows = step.rows(), cols = kHeads * c.head_dim;
  const Matrix x = noise_matrix(3, rows, cols), angles = noise_matrix(4, rows, 2 * c.pairs);
  const std::vector<float> gain = noise_vector(5, c.head_dim, 1);
  Matrix out(rows, cols);
  const HeadArgs args{.role = role,
                      .heads = kHeads,
                      .head_dim = c.head_dim,
                      .x = x.ref(),
                      .gain = gain.data(),
                      .eps = 1e-6f,
                      .angles = angles.ref(),
                      .pairs = c.pairs,
                      .pairing = c.pairing,
                      .writes_kv = role != HeadRole::query,
                      .kv_layer = 1,
                      .out = out.ref()};
  run_op(level, {.kind = OpKind::kv_write, .kv = c.type}, &args, step.input(), workers);
  const auto pool = step.pool(0);
  return {std::move(out), {pool.begin(), pool.end()}};
}

TEST(CpuHeads, NormAndRotationMatchTheReference) {
  for (const HeadCase& c : head_cases()) {
    on_every_level<HeadResult>(
        [&](const Implementation& level, int workers) {
          return run_heads(level, workers, c, HeadRole::query);
        },
        [&](const HeadResult& got, const HeadResult& want) {
          // Elements are below 4; a rotation adds two products.
          const double bound = (c.head_dim / 32.0 + 12) * kEpsilon;
          expect_near(got.out, want.out, 0, 8 * bound);
          EXPECT_TRUE(got.pool == want.pool);  // untouched
        });
  }
}

// Without arithmetic the stored bits are those of the reference, in every type and layout.
TEST(CpuHeads, KvWriteStoresTheBitsOfTheReference) {
  for (const HeadCase& c : head_cases()) {
    for (const HeadRole role : {HeadRole::key, HeadRole::value}) {
      on_every_level<HeadResult>(
          [&](const Implementation& level, int workers) {
            const Step step(
                {{13, 5}, {0, 2}},
                {{.type = c.type, .kv_heads = kHeads, .head_dim = c.head_dim, .layers = 2}});
            Matrix x = noise_matrix(3, step.rows(), kHeads * c.head_dim, 1000);
            x.row(0)[0] = 1e6f;  // saturates in f16
            x.row(1)[1] = -65519.0f;
            x.row(2)[2] = 1e-7f;
            x.row(3)[3] = INFINITY;
            const HeadArgs args{.role = role,
                                .heads = kHeads,
                                .head_dim = c.head_dim,
                                .x = x.ref(),
                                .writes_kv = true,
                                .kv_layer = 1};
            run_op(level, {.kind = OpKind::kv_write, .kv = c.type}, &args, step.input(), workers);
            const auto pool = step.pool(0);
            return HeadResult{std::move(x), {pool.begin(), pool.end()}};
          },
          [](const HeadResult& got, const HeadResult& want) { EXPECT_TRUE(got == want); });
    }
  }
}

TEST(CpuHeads, KeysAndValuesStoreWhatTheOutputShows) {
  for (const Implementation& level : cpu_levels()) {
    const HeadCase c{64, 32, RopePairing::half_split, DType::f32};
    for (const HeadRole role : {HeadRole::key, HeadRole::value}) {
      Step step({{13, 5}, {0, 2}}, {{.kv_heads = kHeads, .head_dim = 64, .layers = 2}});
      const HeadResult result = run_heads(level, 2, c, role);
      for (int head = 0; head < kHeads; ++head) {
        for (int d = 0; d < 64; ++d) {
          float stored = 0;
          const size_t at =
              step.element(0, 1, 0, 17, head, role == HeadRole::key, d) - step.pool(0).data();
          std::memcpy(&stored, result.pool.data() + at, sizeof stored);
          EXPECT_EQ(stored, result.out.values(4)[head * 64 + d]);
        }
      }
    }
  }
}

// (x0, x1) -> (fma(x0, c, -(x1 * s)), fma(x0, s, x1 * c)); the rest of the head is copied.
TEST(CpuHeads, RotationFollowsTheContractBitForBit) {
  constexpr int kDim = 80, kPairs = 36;
  const Matrix x = noise_matrix(3, 1, kDim), angles = noise_matrix(4, 1, 2 * kPairs);
  const std::vector<double> a = angles.values(0);
  const Step step({{0, 1}});
  for (const RopePairing pairing : {RopePairing::adjacent, RopePairing::half_split}) {
    std::vector<double> want = x.values(0);
    for (int i = 0; i < kPairs; ++i) {
      const bool adjacent = pairing == RopePairing::adjacent;
      double& first = want[adjacent ? 2 * i : i];
      double& second = want[adjacent ? 2 * i + 1 : i + kPairs];
      const auto x0 = static_cast<float>(first), x1 = static_cast<float>(second);
      const auto c = static_cast<float>(a[i]), s = static_cast<float>(a[kPairs + i]);
      first = std::fma(x0, c, -(x1 * s));
      second = std::fma(x0, s, x1 * c);
    }
    for (const Implementation& level : cpu_levels()) {
      Matrix out(1, kDim);
      const HeadArgs args{.heads = 1,
                          .head_dim = kDim,
                          .x = x.ref(),
                          .angles = angles.ref(),
                          .pairs = kPairs,
                          .pairing = pairing,
                          .out = out.ref()};
      run_op(level, {.kind = OpKind::rope}, &args, step.input());
      EXPECT_EQ(out.values(0), want) << level.name;
    }
  }
}

TEST(CpuHeads, OutputMayReplaceItsInput) {
  const Step step({{0, 9}});
  const Matrix angles = noise_matrix(4, 9, 16);
  const std::vector<float> gain = noise_vector(5, 24, 1);
  for (const Implementation& level : cpu_levels()) {
    Matrix in_place = noise_matrix(3, 9, 5 * 24), out(9, 5 * 24);
    const Matrix x = noise_matrix(3, 9, 5 * 24);
    HeadArgs args{.heads = 5,
                  .head_dim = 24,
                  .x = x.ref(),
                  .gain = gain.data(),
                  .angles = angles.ref(),
                  .pairs = 8,
                  .out = out.ref()};
    run_op(level, {.kind = OpKind::head_norm}, &args, step.input());
    args.x = args.out = in_place.ref();
    run_op(level, {.kind = OpKind::head_norm}, &args, step.input());
    EXPECT_EQ(in_place.values(), out.values()) << level.name;
  }
}

}  // namespace
}  // namespace arion::test
