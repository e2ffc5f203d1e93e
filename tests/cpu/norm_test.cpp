// norm, rms_norm, convert and add of every level against the reference.
#include "cpu/levels.h"
#include "op/step.h"

namespace arion::test {
namespace {

struct Forms {
  Forms(int rows, int cols)
      : f32(rows, cols),
        bf16(ActivationForm::bf16, rows, cols),
        int8(ActivationForm::int8, rows, cols) {}
  Matrix f32, bf16, int8;
  Outputs outputs() const { return {.f32 = f32.ref(), .bf16 = bf16.ref(), .int8 = int8.ref()}; }
  bool operator==(const Forms&) const = default;
};

constexpr int kSizes[] = {1, 8, 31, 64, 96, 172, 576, 640, 1024, 1025, 2048, 3000};

// A sum of K squares in 16 lanes errs by at most (K / 16 + 4) roundings, halved by the root; the
// rest of the row's arithmetic adds less than 8.
double norm_bound(int cols) {
  return (cols / 32.0 + 10) * kEpsilon;
}

TEST(CpuNorm, RmsNormMatchesTheReference) {
  for (const int cols : kSizes) {
    const Matrix x = noise_matrix(1, 5, cols, 3);
    const std::vector<float> gain = noise_vector(2, cols, 1);
    const Step step({{0, 5}});
    on_every_level<Matrix>(
        [&](const Implementation& level, int workers) {
          Matrix out(6, cols);
          const NormArgs args{.cols = cols,
                              .eps = 1e-5f,
                              .x = x.ref(),
                              .gain = gain.data(),
                              .out = {.f32 = out.ref()}};
          run_op(level, {.kind = OpKind::rms_norm}, &args, step.input(), workers);
          EXPECT_TRUE(out.is_untouched(5));
          return out;
        },
        [&](const Matrix& got, const Matrix& want) {
          expect_near(got, want, norm_bound(cols), 0);
        });
  }
}

struct Sums {
  Matrix sum, out;
  bool operator==(const Sums&) const = default;
};

TEST(CpuNorm, NormWithDeltaMatchesTheReference) {
  for (const int cols : kSizes) {
    for (const bool normalises_delta : {false, true}) {
      const Matrix x = noise_matrix(1, 3, cols), delta = noise_matrix(3, 3, cols, 0.1f);
      const std::vector<float> gain = noise_vector(2, cols, 1), delta_gain = noise_vector(4, cols);
      const Step step({{0, 3}});
      on_every_level<Sums>(
          [&](const Implementation& level, int workers) {
            Sums result{{3, cols}, {3, cols}};
            const NormArgs args{.cols = cols,
                                .eps = 1e-6f,
                                .x = x.ref(),
                                .delta = delta.ref(),
                                .delta_gain = normalises_delta ? delta_gain.data() : nullptr,
                                .sum = result.sum.ref(),
                                .gain = gain.data(),
                                .out = {.f32 = result.out.ref()}};
            run_op(level, {.kind = OpKind::norm}, &args, step.input(), workers);
            return result;
          },
          [&](const Sums& got, const Sums& want) {
            // Terms are below 4 in magnitude, and so are results; sums may cancel.
            expect_near(got.sum, want.sum, 0, 4 * norm_bound(cols));
            expect_near(got.out, want.out, 0, 16 * norm_bound(cols));
          });
    }
  }
}

TEST(CpuNorm, SumMayReplaceItsInput) {
  const Matrix delta = noise_matrix(3, 4, 100);
  const Step step({{0, 4}});
  on_every_level<Matrix>(
      [&](const Implementation& level, int workers) {
        Matrix x = noise_matrix(1, 4, 100);
        const NormArgs args{.cols = 100, .x = x.ref(), .delta = delta.ref(), .sum = x.ref()};
        run_op(level, {.kind = OpKind::norm}, &args, step.input(), workers);
        return x;
      },
      [](const Matrix& got, const Matrix& want) { EXPECT_TRUE(got == want); });
}

// Many rows, so that chunks split between tiles; the reference works on the same f32 values.
TEST(CpuNorm, ConvertEqualsTheReferenceBitForBit) {
  for (const int rows : {1, 3, 16, 33, 100}) {
    for (const int cols : kSizes) {
      const Matrix x = noise_matrix(7, rows, cols, 10);
      const Step step({{0, rows}});
      on_every_level<Forms>(
          [&](const Implementation& level, int workers) {
            Forms forms(rows, cols);
            const ConvertArgs args{.cols = cols, .x = x.ref(), .out = forms.outputs()};
            run_op(level, {.kind = OpKind::convert}, &args, step.input(), workers);
            return forms;
          },
          [](const Forms& got, const Forms& want) { EXPECT_TRUE(got == want); });
    }
  }
}

TEST(CpuNorm, ConvertTreatsExtremesAsTheReferenceDoes) {
  constexpr float kExtremes[] = {0.0f,   -0.0f,   1e-45f, 1.5e-36f, 1.6e-36f, 3e38f,
                                 -3e38f, 65520.f, NAN,    INFINITY, -INFINITY};
  for (const float extreme : kExtremes) {
    Matrix x(1, 64);
    std::vector<float> row(64, 0.0f);
    row[5] = extreme;
    row[40] = extreme;
    row[41] = 1.0f;
    x.set_row(0, row);
    const Step step({{0, 1}});
    on_every_level<Forms>(
        [&](const Implementation& level, int workers) {
          Forms forms(1, 64);
          const ConvertArgs args{.cols = 64, .x = x.ref(), .out = forms.outputs()};
          run_op(level, {.kind = OpKind::convert}, &args, step.input(), workers);
          return forms;
        },
        [&](const Forms& got, const Forms& want) { EXPECT_TRUE(got == want) << extreme; });
  }
}

TEST(CpuNorm, NormWritesTheFormsConvertWouldMake) {
  const int cols = 200;
  const Matrix x = noise_matrix(1, 40, cols);
  const std::vector<float> gain = noise_vector(2, cols, 1);
  const Step step({{0, 40}});
  for (const Implementation& level : cpu_levels()) {
    Forms fused(40, cols), separate(40, cols);
    const NormArgs norm{
        .cols = cols, .eps = 1e-5f, .x = x.ref(), .gain = gain.data(), .out = fused.outputs()};
    run_op(level, {.kind = OpKind::norm}, &norm, step.input());
    const ConvertArgs convert{.cols = cols, .x = fused.f32.ref(), .out = separate.outputs()};
    run_op(level, {.kind = OpKind::convert}, &convert, step.input());
    EXPECT_TRUE(fused == separate) << level.name;
  }
}

// 1 / sqrt(mean of squares + eps): 16 lanes in ascending order, then the fixed tree.
float contract_inverse(const std::vector<float>& x, float eps) {
  float lanes[16] = {};
  for (size_t c = 0; c < x.size(); ++c) lanes[c % 16] = std::fma(x[c], x[c], lanes[c % 16]);
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return 1.0f / std::sqrt(lanes[0] / static_cast<float>(x.size()) + eps);
}

TEST(CpuNorm, EveryLevelComputesTheContractBitForBit) {
  for (const int cols : kSizes) {
    const std::vector<float> x = noise_vector(1, cols), delta = noise_vector(2, cols);
    const std::vector<float> gain = noise_vector(3, cols, 1), delta_gain = noise_vector(4, cols, 1);
    std::vector<float> s(cols), y(cols);
    const float delta_inverse = contract_inverse(delta, 1e-6f);
    for (int c = 0; c < cols; ++c) s[c] = x[c] + (delta[c] * delta_inverse) * delta_gain[c];
    const float inverse = contract_inverse(s, 1e-6f);
    for (int c = 0; c < cols; ++c) y[c] = (s[c] * inverse) * gain[c];

    Matrix x_matrix(1, cols), delta_matrix(1, cols);
    x_matrix.set_row(0, x);
    delta_matrix.set_row(0, delta);
    const Step step({{0, 1}});
    for (const Implementation& level : cpu_levels()) {
      Sums result{{1, cols}, {1, cols}};
      const NormArgs args{.cols = cols,
                          .eps = 1e-6f,
                          .x = x_matrix.ref(),
                          .delta = delta_matrix.ref(),
                          .delta_gain = delta_gain.data(),
                          .sum = result.sum.ref(),
                          .gain = gain.data(),
                          .out = {.f32 = result.out.ref()}};
      run_op(level, {.kind = OpKind::norm}, &args, step.input());
      EXPECT_EQ(result.sum.values(0), std::vector<double>(s.begin(), s.end())) << level.name;
      EXPECT_EQ(result.out.values(0), std::vector<double>(y.begin(), y.end())) << level.name;
    }
  }
}

// More columns than scratch holds.
TEST(CpuNorm, WideRowsNeedNoMoreScratch) {
  const int cols = 300000;
  const Matrix x = noise_matrix(1, 1, cols), delta = noise_matrix(2, 1, cols);
  const std::vector<float> gain = noise_vector(3, cols, 1);
  const Step step({{0, 1}});
  on_every_level<Sums>(
      [&](const Implementation& level, int workers) {
        Sums result{{1, cols}, {1, cols}};
        const NormArgs args{.cols = cols,
                            .eps = 1e-6f,
                            .x = x.ref(),
                            .delta = delta.ref(),
                            .delta_gain = gain.data(),
                            .sum = result.sum.ref(),
                            .gain = gain.data(),
                            .out = {.f32 = result.out.ref()}};
        run_op(level, {.kind = OpKind::norm}, &args, step.input(), workers);
        return result;
      },
      [&](const Sums& got, const Sums& want) {
        // Lanes sum 18,750 squares; the roundings of random terms average out, hence the root.
        const double bound = (std::sqrt(cols / 16.0) + 16) * kEpsilon;
        expect_near(got.sum, want.sum, 0, 4 * bound);
        expect_near(got.out, want.out, 0, 16 * bound);
      });
}

// The sum need not be kept.
TEST(CpuNorm, NormWithoutSumEqualsNormWithIt) {
  const int cols = 1100;
  const Matrix x = noise_matrix(1, 3, cols), delta = noise_matrix(2, 3, cols);
  const std::vector<float> gain = noise_vector(3, cols, 1);
  const Step step({{0, 3}});
  for (const Implementation& level : cpu_levels()) {
    for (const float* delta_gain : {static_cast<const float*>(nullptr), gain.data()}) {
      Matrix sum(3, cols), with(3, cols), without(3, cols);
      NormArgs args{.cols = cols,
                    .eps = 1e-6f,
                    .x = x.ref(),
                    .delta = delta.ref(),
                    .delta_gain = delta_gain,
                    .sum = sum.ref(),
                    .gain = gain.data(),
                    .out = {.f32 = with.ref()}};
      run_op(level, {.kind = OpKind::norm}, &args, step.input());
      args.sum = {};
      args.out.f32 = without.ref();
      run_op(level, {.kind = OpKind::norm}, &args, step.input());
      EXPECT_TRUE(with == without) << level.name;
    }
  }
}

TEST(CpuNorm, RowsDoNotDependOnTheBatch) {
  const int cols = 576;
  const Matrix x = noise_matrix(1, 64, cols);
  const std::vector<float> gain = noise_vector(2, cols, 1);
  for (const Implementation& level : cpu_levels()) {
    const auto norm_of = [&](int first, int rows) {
      Forms forms(rows, cols);
      Matrix part(rows, cols);
      for (int r = 0; r < rows; ++r) {
        const std::vector<double> values = x.values(first + r);
        part.set_row(r, std::vector<float>(values.begin(), values.end()));
      }
      const Step step({{0, rows}});
      const NormArgs args{
          .cols = cols, .eps = 1e-5f, .x = part.ref(), .gain = gain.data(), .out = forms.outputs()};
      run_op(level, {.kind = OpKind::norm}, &args, step.input());
      return forms;
    };
    const Forms all = norm_of(0, 64);
    for (const int row : {0, 15, 16, 63}) {
      const Forms one = norm_of(row, 1);
      EXPECT_EQ(one.f32.values(0), all.f32.values(row));
      EXPECT_EQ(one.int8.values(0), all.int8.values(row));
    }
  }
}

TEST(CpuNorm, AddEqualsTheReferenceBitForBit) {
  for (const int cols : kSizes) {
    const Matrix a = noise_matrix(1, 40, cols), b = noise_matrix(2, 40, cols);
    const Step step({{0, 40}});
    on_every_level<Matrix>(
        [&](const Implementation& level, int workers) {
          Matrix out(40, cols);
          const AddArgs args{.cols = cols, .a = a.ref(), .b = b.ref(), .out = out.ref()};
          run_op(level, {.kind = OpKind::add}, &args, step.input(), workers);
          return out;
        },
        [](const Matrix& got, const Matrix& want) { EXPECT_TRUE(got == want); });
  }
}

}  // namespace
}  // namespace arion::test
