// linear_head equals linear followed by the stand-alone head operation, bit for bit.
#include "cpu/linear_fixture.h"
#include "levels.h"
#include "op/step.h"

namespace arion::test {
namespace {

struct FusedCase {
  int head_dim, pairs;
  RopePairing pairing;
  DType type;
  HeadRole role;
};

std::vector<FusedCase> fused_cases() {
  std::vector<FusedCase> cases;
  for (const auto& [head_dim, pairs] : {std::pair{8, 4},
                                        {64, 32},
                                        {80, 16},
                                        {96, 48},
                                        {128, 64},
                                        {256, 128},
                                        {10, 5},
                                        {510, 255}}) {
    for (const HeadRole role : {HeadRole::query, HeadRole::key, HeadRole::value}) {
      cases.push_back({head_dim, pairs,
                       role == HeadRole::key ? RopePairing::half_split : RopePairing::adjacent,
                       head_dim == 64 ? DType::f32 : DType::f16, role});
    }
  }
  return cases;
}

constexpr int kHeads = 3;

// Output and pool of one way to compute the heads of a step of two runs.
struct Found {
  Matrix out;
  std::vector<std::byte> pool;
};

Found run_heads(const Implementation& level, const FusedCase& c, const PanelSpec& spec,
                ActivationForm form, bool is_fused, int workers) {
  const int cols = kHeads * c.head_dim, width = 256;
  const Step step({{13, 17}, {0, 2}},
                  {{.type = c.type, .kv_heads = kHeads, .head_dim = c.head_dim, .layers = 2}});
  const int rows = step.rows();
  const TestWeights weights(spec, cols, width, 31);
  Random random(32);
  TestActivations x(form, rows, width);
  for (int r = 0; r < rows; ++r) x.set_row(r, random_row(random, width));
  const Matrix angles = noise_matrix(4, rows, 2 * c.pairs);
  const std::vector<float> gain = noise_vector(5, c.head_dim, 1), bias = noise_vector(6, cols, 1);

  Found found{Matrix(rows, cols), {}};
  Matrix product(rows, cols);
  HeadArgs head;
  head.role = c.role;
  head.heads = kHeads;
  head.head_dim = c.head_dim;
  head.gain = gain.data();
  head.eps = 1e-6f;
  head.angles = angles.ref();
  head.pairs = c.pairs;
  head.pairing = c.pairing;
  head.writes_kv = c.role != HeadRole::query;
  head.kv_layer = 1;
  head.out = found.out.ref();
  head.x = product.ref();

  LinearArgs args;
  args.form = form;
  args.x = x.ref();
  args.weight = weights.matrix();
  args.bias = bias.data();
  if (is_fused) {
    args.kind = OpKind::linear_head;
    args.head = head;
    args.out.f32 = found.out.ref();
  } else {
    args.out.f32 = product.ref();
  }
  run_op(level, {.kind = args.kind, .form = form, .weights = spec, .kv = c.type}, &args,
         step.input(), workers);
  if (!is_fused) {
    run_op(level, {.kind = OpKind::head_norm, .kv = c.type}, &head, step.input(), workers);
  }
  const auto pool = step.pool(0);
  found.pool.assign(pool.begin(), pool.end());
  return found;
}

TEST(CpuLinearHead, EqualsItsPartsBitForBit) {
  const std::pair<PanelSpec, ActivationForm> products[] = {
      {{Codec::c4, ScaleMode::a, 8}, ActivationForm::int8},
      {{Codec::c6, ScaleMode::d16, 32}, ActivationForm::int8},
      {{Codec::bf16, ScaleMode::none, 0}, ActivationForm::bf16},
      {{Codec::f16, ScaleMode::none, 0}, ActivationForm::f32}};
  for (const Implementation& level : cpu_levels()) {
    for (const FusedCase& c : fused_cases()) {
      for (const auto& [spec, form] : products) {
        const Found parts = run_heads(level, c, spec, form, false, 1);
        for (const int workers : {1, 3}) {
          const Found fused = run_heads(level, c, spec, form, true, workers);
          ASSERT_TRUE(fused.out == parts.out) << level.name << " head " << c.head_dim;
          ASSERT_TRUE(fused.pool == parts.pool) << level.name << " head " << c.head_dim;
        }
      }
    }
  }
}

}  // namespace
}  // namespace arion::test
