// rope_angles, glu, select_rows and embed of every level against the reference.
#include "base/real_math.h"
#include "cpu/levels.h"
#include "op/step.h"
#include "quant/weight_format.h"

namespace arion::test {
namespace {

TEST(CpuElementwise, RopeAnglesEqualTheReferenceBitForBit) {
  for (const int pairs : {1, 4, 32, 40, 128}) {
    std::vector<double> frequencies;
    for (int i = 0; i < pairs; ++i) frequencies.push_back(real::pow(1e6, -1.0 * i / pairs));
    const Step step({{0, 20}, {511, 20}, {131071, 3}, {9999999, 1}});
    on_every_level<Matrix>(
        [&](const Implementation& level, int workers) {
          Matrix out(step.rows(), 2 * pairs);
          const RopeAnglesArgs args{
              .inverse_frequencies = frequencies.data(), .pairs = pairs, .out = out.ref()};
          run_op(level, {.kind = OpKind::rope_angles}, &args, step.input(), workers);
          return out;
        },
        [](const Matrix& got, const Matrix& want) { EXPECT_TRUE(got == want); });
  }
}

struct GluResult {
  Matrix f32, bf16, int8;
  bool operator==(const GluResult&) const = default;
};

TEST(CpuElementwise, GluMatchesTheReferenceInEveryForm) {
  for (const Activation activation : {Activation::silu, Activation::gelu_tanh}) {
    for (const int cols : {1, 33, 172, 1536}) {
      Matrix gate = noise_matrix(1, 37, cols, 20);
      const Matrix up = noise_matrix(2, 37, cols, 3);
      gate.row(0)[0] = 300.0f;
      gate.row(1)[0] = -300.0f;
      const Step step({{0, 37}});
      on_every_level<GluResult>(
          [&](const Implementation& level, int workers) {
            GluResult result{
                {37, cols}, {ActivationForm::bf16, 37, cols}, {ActivationForm::int8, 37, cols}};
            const GluArgs args{
                .cols = cols,
                .activation = activation,
                .gate = gate.ref(),
                .up = up.ref(),
                .out = {
                    .f32 = result.f32.ref(), .bf16 = result.bf16.ref(), .int8 = result.int8.ref()}};
            run_op(level, {.kind = OpKind::glu}, &args, step.input(), workers);
            return result;
          },
          [](const GluResult& got, const GluResult& want) {
            // exp is within 1.1 ulp, but the argument of gelu's errs by 3 roundings of up to 2^9
            // where the result matters (below |-2u| = 90): 90 * 3 roundings of relative error.
            expect_near(got.f32, want.f32, 300 * kEpsilon, 1e-36);
            expect_near(got.bf16, want.bf16, 0x1p-7, 1e-36);  // one unit in the last place
            expect_near(got.int8, want.int8, 1e-4, 60.0 * 1.01 / 127);
          });
    }
  }
}

TEST(CpuElementwise, SelectRowsEqualsTheReferenceBitForBit) {
  for (const int cols : {5, 576}) {
    const Matrix x = noise_matrix(1, 50, cols);
    Step step({{0, 50}});
    step.select({0, 7, 8, 49});
    on_every_level<Matrix>(
        [&](const Implementation& level, int workers) {
          Matrix out(4, cols);
          const SelectRowsArgs args{.cols = cols, .x = x.ref(), .out = out.ref()};
          run_op(level, {.kind = OpKind::select_rows}, &args, step.input(), workers);
          return out;
        },
        [](const Matrix& got, const Matrix& want) { EXPECT_TRUE(got == want); });
  }
}

TEST(CpuElementwise, EmbedEqualsTheReferenceBitForBitInEveryFormat) {
  for (const WeightFormat* format : weight_formats()) {
    const int cols = 256, tokens = 37;
    std::vector<std::byte> panels(panel_count(tokens) * panel_bytes(format->panel(), cols));
    const size_t bytes = panel_bytes(format->panel(), cols);
    for (int p = 0; p < panel_count(tokens); ++p) {
      const int rows = std::min(kPanelRows, tokens - p * kPanelRows);
      std::vector<std::byte> blocks(rows * format->row_bytes(cols));
      for (int r = 0; r < rows; ++r) {
        const std::vector<float> row = noise_vector(100 + p * kPanelRows + r, cols);
        format->encode_row(
            row, {},
            std::span(blocks).subspan(r * format->row_bytes(cols), format->row_bytes(cols)));
      }
      format->pack(blocks, cols, std::span(panels).subspan(p * bytes, bytes));
    }
    Step step({{0, 20}});
    for (int i = 0; i < 20; ++i) step.tokens()[i] = i * 31 % tokens;
    on_every_level<Matrix>(
        [&](const Implementation& level, int workers) {
          Matrix out(20, cols);
          const EmbedArgs args{.format = format,
                               .panels = panels.data(),
                               .cols = cols,
                               .scale = 25.3f,
                               .out = out.ref()};
          run_op(level, {.kind = OpKind::embed}, &args, step.input(), workers);
          return out;
        },
        [&](const Matrix& got, const Matrix& want) { EXPECT_TRUE(got == want) << format->name(); });
  }
}

}  // namespace
}  // namespace arion::test
