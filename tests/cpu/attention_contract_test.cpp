// The attention contract, bit for bit: a plain loop over one row and one head, in the operations
// and the order that every kernel must have (ARCHITECTURE.md, N3), against every level.
#define ARION_ISA generic
#define ARION_ISA_generic 1
#include <cmath>

#include "cpu/kernels/math.h"
#include "cpu/levels.h"
#include "op/step.h"

namespace arion::test {
namespace {

using cpu::generic::F32;

constexpr float kNone = -INFINITY;

float exp_of(float x) {
  float lanes[16];
  exp(F32::set1(x)).store(lanes);
  return lanes[0];
}

float sum_of(const float* p) {
  float lanes[16];
  for (int i = 0; i < 16; ++i) lanes[i] = (p[i] + p[i + 16]) + (p[i + 32] + p[i + 48]);
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

struct State {
  float max = kNone, sum = 0;
  std::vector<float> acc;
};

// keys and values are [position][head_dim]; the row sees positions first..last.
std::vector<float> contract(const std::vector<float>& q,
                            const std::vector<std::vector<float>>& keys,
                            const std::vector<std::vector<float>>& values, int first, int last,
                            float scale) {
  const size_t dim = q.size();
  State total{.acc = std::vector<float>(dim)};
  for (int split = 0; split <= last / 512; ++split) {
    State state{.acc = std::vector<float>(dim)};
    for (int tile = split * 8; tile < split * 8 + 8; ++tile) {
      const int begin = std::max(first, tile * 64), end = std::min(last, tile * 64 + 63);
      if (begin > end) continue;
      float p[64] = {};
      float tile_max = kNone;
      for (int j = begin; j <= end; ++j) {
        float dot = 0;
        for (size_t d = 0; d < dim; ++d) dot = std::fma(q[d], keys[j][d], dot);
        p[j % 64] = scale * dot;
        tile_max = std::max(tile_max, p[j % 64]);
      }
      const float new_max = std::max(state.max, tile_max);
      const float alpha = state.max == kNone ? 0 : exp_of(state.max - new_max);
      for (int j = begin; j <= end; ++j) p[j % 64] = exp_of(p[j % 64] - new_max);
      state.sum = state.sum * alpha + sum_of(p);
      for (size_t d = 0; d < dim; ++d) {
        state.acc[d] *= alpha;
        for (int j = begin; j <= end; ++j) {
          state.acc[d] = std::fma(p[j % 64], values[j][d], state.acc[d]);
        }
      }
      state.max = new_max;
    }
    if (state.max == kNone) continue;
    const float new_max = std::max(total.max, state.max);
    const float old_factor = total.max == kNone ? 0 : exp_of(total.max - new_max);
    const float factor = exp_of(state.max - new_max);
    total.sum = total.sum * old_factor + state.sum * factor;
    for (size_t d = 0; d < dim; ++d) {
      total.acc[d] = total.acc[d] * old_factor + state.acc[d] * factor;
    }
    total.max = new_max;
  }
  for (float& a : total.acc) a /= total.sum;
  return total.acc;
}

TEST(CpuAttentionContract, EveryLevelComputesTheContractBitForBit) {
  for (const int window : {0, 1, 100, 600}) {
    for (const int head_dim : {10, 64}) {
      for (const TestRun& run : {TestRun{0, 3}, {62, 5}, {510, 12}, {1300, 1}}) {
        Step step({run}, {{.head_dim = head_dim}});
        const int end = run.first + run.rows;
        std::vector<std::vector<float>> keys(end), values(end);
        for (int j = 0; j < end; ++j) {
          keys[j] = noise_vector(1000 + j, head_dim);
          values[j] = noise_vector(9000 + j, head_dim);
          for (int d = 0; d < head_dim; ++d) {
            step.set_element(step.element(0, 0, 0, j, 0, true, d), DType::f32, keys[j][d]);
            step.set_element(step.element(0, 0, 0, j, 0, false, d), DType::f32, values[j][d]);
          }
        }
        Matrix q = noise_matrix(5, run.rows, head_dim, 2);
        const float scale = 1.7f;
        const AttentionArgs args{.attributes = {.heads = 1,
                                                .kv_heads = 1,
                                                .head_dim = head_dim,
                                                .window = window,
                                                .scale = scale},
                                 .q = q.ref()};
        for (const Implementation& level : cpu_levels()) {
          Matrix out(run.rows, head_dim);
          AttentionArgs level_args = args;
          level_args.out.f32 = out.ref();
          run_op(level, {.kind = OpKind::attention}, &level_args, step.input());
          for (int r = 0; r < run.rows; ++r) {
            const int last = run.first + r;
            const int first = window == 0 ? 0 : std::max(0, last - window + 1);
            const std::span<const float> query = q.row(r), got = out.row(r);
            EXPECT_EQ(std::vector<float>(got.begin(), got.end()),
                      contract({query.begin(), query.end()}, keys, values, first, last, scale))
                << level.name << ", position " << last << ", window " << window;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace arion::test
