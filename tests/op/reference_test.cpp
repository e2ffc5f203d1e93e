// The reference against numbers worked out by hand.
#include "op/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/half.h"
#include "op/matrix.h"
#include "op/step.h"
#include "quant/weight_format.h"

namespace arion::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Matrix one_row(std::vector<float> values) {
  Matrix matrix(1, static_cast<int>(values.size()));
  matrix.set_row(0, values);
  return matrix;
}

Matrix one_row_of(ActivationForm form, int cols) {
  return {form, 1, cols};
}

TEST(Reference, RmsNormDividesByTheRootOfTheMeanSquare) {
  const Matrix x = one_row({3, -4, 0, 0});
  const float gain[] = {1, 1, 5, 5};
  Matrix out(1, 4);
  const Step step({{0, 1}});
  reference_norm({.cols = 4, .x = x.ref(), .gain = gain, .out = {.f32 = out.ref()}}, step.input());
  EXPECT_FLOAT_EQ(out.row(0)[0], 3 / 2.5f);
  EXPECT_FLOAT_EQ(out.row(0)[1], -4 / 2.5f);
  EXPECT_EQ(out.row(0)[2], 0);
}

TEST(Reference, NormAddsTheDeltaAndMayNormaliseItFirst) {
  const Matrix x = one_row({1, 2}), delta = one_row({6, 8});
  const float delta_gain[] = {1, 10};
  Matrix sum(1, 2);
  const Step step({{0, 1}});
  NormArgs args{.cols = 2, .x = x.ref(), .delta = delta.ref(), .sum = sum.ref()};
  reference_norm(args, step.input());
  EXPECT_EQ(sum.values(0), (std::vector<double>{7, 10}));
  args.delta_gain = delta_gain;  // the root mean square of delta is sqrt(50)
  reference_norm(args, step.input());
  EXPECT_FLOAT_EQ(sum.row(0)[0], 1 + 6 / std::sqrt(50.0f));
  EXPECT_FLOAT_EQ(sum.row(0)[1], 2 + 80 / std::sqrt(50.0f));
}

TEST(Reference, ConvertMakesCodesOfTheLargestMagnitude) {
  std::vector<float> values(40, 0.0f);
  values[0] = -254;
  values[1] = 3;  // 1.5 codes rounds to the even 2
  values[2] = 5;  // 2.5 codes rounds to the even 2
  values[17] = 100;
  values[32] = 1;
  const Matrix x = one_row(values);
  Matrix out = one_row_of(ActivationForm::int8, 40);
  const Step step({{0, 1}});
  reference_convert({.cols = 40, .x = x.ref(), .out = {.int8 = out.ref()}}, step.input());
  const auto* tiles = out.ref().at<Int8Tile>(0);
  EXPECT_EQ(tiles[0].scale[0], 2);
  EXPECT_EQ(tiles[0].q[0][0], -127);
  EXPECT_EQ(tiles[0].q[0][1], 2);
  EXPECT_EQ(tiles[0].q[0][2], 2);
  EXPECT_EQ(tiles[0].neg_sum[0], 127 - 2 - 2 - 50);
  EXPECT_EQ(tiles[0].neg_sum_half[0][0], 127 - 2 - 2);
  EXPECT_EQ(tiles[0].neg_sum_half[1][0], -50);
  EXPECT_EQ(tiles[1].q[0][0], 127);
  EXPECT_EQ(tiles[1].q[0][8], 0);  // beyond the columns
  EXPECT_EQ(out.values(0)[0], -254);
}

TEST(Reference, ConvertShowsWhatIsNotFiniteAndDropsWhatIsTiny) {
  std::vector<float> values(96, 1.0f);
  values[3] = kNan;
  values[40] = std::numeric_limits<float>::infinity();
  for (int c = 64; c < 96; ++c) values[c] = 1e-40f;
  const Matrix x = one_row(values);
  Matrix out = one_row_of(ActivationForm::int8, 96);
  const Step step({{0, 1}});
  reference_convert({.cols = 96, .x = x.ref(), .out = {.int8 = out.ref()}}, step.input());
  const auto* tiles = out.ref().at<Int8Tile>(0);
  EXPECT_TRUE(std::isnan(tiles[0].scale[0]));
  EXPECT_TRUE(std::isnan(tiles[1].scale[0]));
  EXPECT_EQ(tiles[2].scale[0], 0);
  EXPECT_EQ(tiles[2].q[0][0], 0);
}

TEST(Reference, GluActivatesTheGate) {
  const Matrix gate = one_row({0, 1, -100, 3}), up = one_row({5, 2, 1, 1});
  Matrix out(1, 4);
  const Step step({{0, 1}});
  GluArgs args{.cols = 4, .gate = gate.ref(), .up = up.ref(), .out = {.f32 = out.ref()}};
  reference_glu(args, step.input());
  EXPECT_EQ(out.row(0)[0], 0);
  EXPECT_FLOAT_EQ(out.row(0)[1], 2 / (1 + std::exp(-1.0f)));
  EXPECT_NEAR(out.row(0)[2], 0, 1e-40);
  args.activation = Activation::gelu_tanh;
  reference_glu(args, step.input());
  EXPECT_FLOAT_EQ(out.row(0)[1], 2 * 0.841191990f);  // gelu_tanh(1)
  EXPECT_FLOAT_EQ(out.row(0)[3], 2.99636269f);       // gelu_tanh(3)
}

TEST(Reference, RopeTurnsPairsAndLeavesTheRest) {
  const double quarter[] = {1.5707963267948966};
  const Step step({{1, 1}});
  Matrix angles(1, 2);
  reference_rope_angles({.inverse_frequencies = quarter, .pairs = 1, .out = angles.ref()},
                        step.input());
  const Matrix x = one_row({1, 2, 3, 4});
  Matrix out(1, 4);
  HeadArgs args{.heads = 1,
                .head_dim = 4,
                .x = x.ref(),
                .angles = angles.ref(),
                .pairs = 1,
                .pairing = RopePairing::adjacent,
                .out = out.ref()};
  reference_head(args, step.input());
  EXPECT_FLOAT_EQ(out.row(0)[0], -2);
  EXPECT_FLOAT_EQ(out.row(0)[1], 1);
  EXPECT_EQ(out.row(0)[3], 4);
}

TEST(Reference, AttentionAveragesWhatTheWindowShows) {
  // Keys are zero, so all visible tokens weigh the same; the value of token j is j.
  for (const auto& [window, want] : {std::pair{0, 10.0}, {1, 20.0}, {3, 19.0}, {100, 10.0}}) {
    Step step({{20, 1}}, {{.head_dim = 8}});
    for (int j = std::max(0, window == 0 ? 0 : 21 - window); j <= 20; ++j) {
      for (int d = 0; d < 8; ++d) {
        step.set_element(step.element(0, 0, 0, j, 0, true, d), DType::f32, 0);
        step.set_element(step.element(0, 0, 0, j, 0, false, d), DType::f32, j);
      }
    }
    const Matrix q = noise_matrix(1, 1, 8);
    Matrix out(1, 8);
    reference_attention({.attributes = {.heads = 1, .kv_heads = 1, .head_dim = 8, .window = window},
                         .q = q.ref(),
                         .out = {.f32 = out.ref()}},
                        step.input());
    EXPECT_FLOAT_EQ(out.row(0)[7], want) << "window " << window;
  }
}

TEST(Reference, KvWriteSaturatesHalves) {
  Step step({{3, 1}}, {{.type = DType::f16, .head_dim = 4}});
  const Matrix x = one_row({1e6f, -1e6f, 1.5f, 65519.0f});
  reference_head(
      {.role = HeadRole::key, .heads = 1, .head_dim = 4, .x = x.ref(), .writes_kv = true},
      step.input());
  const float want[] = {65504, -65504, 1.5f, 65504};
  for (int d = 0; d < 4; ++d) {
    uint16_t bits = 0;
    std::memcpy(&bits, step.element(0, 0, 0, 3, 0, true, d), 2);
    EXPECT_EQ(half_to_float(bits), want[d]);
  }
}

// A matrix [features, cols] of one format with known values.
struct Weights {
  const WeightFormat* format = find_weight_format("F32");
  std::vector<std::byte> panels;
  PanelMatrix matrix;

  Weights(int rows, int cols, const std::vector<float>& values) {
    const size_t bytes = panel_bytes(format->panel(), cols);
    panels.resize(bytes * panel_count(rows));
    const auto source = std::as_bytes(std::span(values));
    for (int p = 0; p < panel_count(rows); ++p) {
      const int count = std::min(kPanelRows, rows - p * kPanelRows);
      const size_t row = static_cast<size_t>(cols) * 4;
      format->pack(source.subspan(p * kPanelRows * row, count * row), cols,
                   std::span(panels).subspan(p * bytes, bytes));
    }
    matrix = {.panels = panels.data(), .spec = format->panel(), .rows = rows, .cols = cols};
  }
};

TEST(Reference, LinearAddsBiasAndResidual) {
  const Weights weights(2, 3, {1, 2, 3, 4, 5, 6});
  const Matrix x = one_row({1, 10, 100}), residual = one_row({1000, 2000});
  const float bias[] = {0.5f, -0.5f};
  Matrix out(1, 2);
  const Step step({{0, 1}});
  LinearArgs args{.x = x.ref(), .weight = weights.matrix, .bias = bias, .out = {.f32 = out.ref()}};
  reference_linear(args, step.input());
  EXPECT_EQ(out.values(0), (std::vector<double>{321.5, 653.5}));
  args.kind = OpKind::linear_add;
  args.residual = residual.ref();
  reference_linear(args, step.input());
  EXPECT_EQ(out.values(0), (std::vector<double>{1321.5, 2653.5}));
}

TEST(Reference, LinearHeadNormalisesWholeHeads) {
  const Weights weights(4, 1, {3, 4, 0, 5});
  const Matrix x = one_row({2});
  const float gain[] = {1, 2};
  Matrix out(1, 4);
  const Step step({{0, 1}});
  reference_linear({.kind = OpKind::linear_head,
                    .x = x.ref(),
                    .weight = weights.matrix,
                    .head = {.heads = 2, .head_dim = 2, .gain = gain, .out = out.ref()},
                    .out = {.f32 = out.ref()}},
                   step.input());
  EXPECT_FLOAT_EQ(out.row(0)[0], 6 / std::sqrt(50.0f));
  EXPECT_FLOAT_EQ(out.row(0)[1], 16 / std::sqrt(50.0f));
  EXPECT_FLOAT_EQ(out.row(0)[3], 20 / std::sqrt(50.0f));
}

TEST(Reference, EmbedScalesTheTokensRow) {
  const Weights weights(20, 2, [] {
    std::vector<float> values(40);
    for (int i = 0; i < 40; ++i) values[i] = static_cast<float>(i);
    return values;
  }());
  Step step({{0, 2}});
  step.tokens() = {17, 0};
  Matrix out(2, 2);
  EmbedArgs args{.format = weights.format,
                 .panels = weights.panels.data(),
                 .cols = 2,
                 .scale = 3,
                 .out = out.ref()};
  reference_embed(args, step.input());
  EXPECT_EQ(out.values(0), (std::vector<double>{102, 105}));
  EXPECT_EQ(out.values(1), (std::vector<double>{0, 3}));
}

TEST(Reference, SelectRowsCopiesTheWantedOnes) {
  const Matrix x = noise_matrix(5, 4, 10);
  Step step({{0, 4}});
  step.select({1, 3});
  Matrix out(2, 10);
  reference_select_rows({.cols = 10, .x = x.ref(), .out = out.ref()}, step.input());
  EXPECT_EQ(out.values(0), x.values(1));
  EXPECT_EQ(out.values(1), x.values(3));
}

}  // namespace
}  // namespace arion::test
