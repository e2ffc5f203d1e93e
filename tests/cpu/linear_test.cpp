// The linear kernels of every ISA level against the bit contract, written here in scalar form.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "base/half.h"
#include "cpu/linear_fixture.h"
#include "op/reference.h"
#include "quant/small_floats.h"

namespace arion {
namespace {

using test::Codes;
using test::Random;
using test::TestActivations;
using test::TestStep;
using test::TestWeights;

// y of the int8 kernels: per block one exact integer and one fixed sequence of fma.
float expected_int8(const TestWeights& w, const TestActivations& x, int row, int feature) {
  float y = 0;
  float of_block = 0;  // d16: without d
  for (int c = 0; c < w.cols; c += 32) {
    const Int8Tile& tile = x.tile(row, c / 32);
    const int lane = row % 16;
    const BlockParts& part = w.part(feature, c);
    const int b = c % w.block / 32;
    const float a = tile.scale[lane];
    const float d = half_to_float(part.d) * code_values(w.spec.table).unit;
    const float m = half_to_float(part.m);
    const auto s = [&](int group) {
      return static_cast<float>(static_cast<int8_t>(part.s[group]));
    };
    int dot[2] = {0, 0}, sum[2] = {0, 0};
    for (int i = 0; i < 32; ++i) {
      dot[i / 16] += tile.q[lane][i] * test::code_value(w.spec, part.codes[b * 32 + i]);
      sum[i / 16] += tile.q[lane][i];
    }
    const float all = static_cast<float>(dot[0] + dot[1]);
    const float sums = static_cast<float>(sum[0] + sum[1]);
    const auto halves = [&](float first, float second) {
      return std::fmaf(second, static_cast<float>(dot[1]), first * static_cast<float>(dot[0]));
    };
    switch (w.spec.mode) {
      case ScaleMode::a:
      case ScaleMode::a64:
      case ScaleMode::a128:
        y = std::fmaf(d * a, all, y);
        break;
      case ScaleMode::d32s:
        y = std::fmaf(d * s(b) * a, all, y);
        break;
      case ScaleMode::e32:
        y = std::fmaf(half_e8m0(part.s[b]) * a, all, y);
        break;
      case ScaleMode::e16:
        y = std::fmaf(a, halves(half_ue4m3(part.s[2 * b]), half_ue4m3(part.s[2 * b + 1])), y);
        break;
      case ScaleMode::d16m:
        y = std::fmaf(d * a, halves(s(2 * b), s(2 * b + 1)), y);
        y = std::fmaf(
            m * a, -static_cast<float>(part.sm[2 * b] * sum[0] + part.sm[2 * b + 1] * sum[1]), y);
        break;
      case ScaleMode::b:
        y = std::fmaf(d * a, all, y);
        y = std::fmaf(m, a * sums, y);
        break;
      case ScaleMode::d32:
        y = std::fmaf((d * static_cast<float>(part.s[b])) * a, all, y);
        y = std::fmaf(-(m * static_cast<float>(part.sm[b])), a * sums, y);
        break;
      default: {  // d16
        const int t = static_cast<int8_t>(part.s[2 * b]) * dot[0] +
                      static_cast<int8_t>(part.s[2 * b + 1]) * dot[1];
        of_block = std::fmaf(a, static_cast<float>(t), b == 0 ? 0.0f : of_block);
        if (c + 32 >= w.cols || (c + 32) % w.block == 0) y = std::fmaf(d, of_block, y);
      }
    }
  }
  return y;
}

float expected_fma(const TestWeights& w, const TestActivations& x, int row, int feature) {
  const std::vector<float> weights = w.row(feature);
  const std::vector<double> values = reference_load(x.ref(), x.form, row, w.cols);
  float y = 0;
  for (int c = 0; c < w.cols; ++c) {
    float v = weights[c];
    if (x.form == ActivationForm::bf16) v = bfloat16_to_float(float_to_bfloat16(v));
    y = std::fmaf(v, static_cast<float>(values[c]), y);
  }
  return y;
}

// How far two orders of adding the products of a row may be apart: about the square root of as many
// roundings as there are products, each of at most half a unit of the sum of their sizes. VDPBF16PS
// also takes subnormal numbers for zero.
float order_tolerance(const TestWeights& w, const TestActivations& x, int row, int feature) {
  const std::vector<float> weights = w.row(feature);
  const std::vector<double> values = reference_load(x.ref(), x.form, row, w.cols);
  double size = 0;
  for (int c = 0; c < w.cols; ++c) size += std::abs(weights[c] * values[c]);
  return static_cast<float>(std::sqrt(w.cols) * 0x1p-24 * size + w.cols * 0x1p-124);
}

std::vector<std::vector<float>> expected(const TestWeights& w, const TestActivations& x) {
  std::vector<std::vector<float>> y(x.rows, std::vector<float>(w.rows));
  for (int r = 0; r < x.rows; ++r) {
    for (int f = 0; f < w.rows; ++f) {
      y[r][f] =
          x.form == ActivationForm::int8 ? expected_int8(w, x, r, f) : expected_fma(w, x, r, f);
    }
  }
  return y;
}

TestActivations random_activations(ActivationForm form, int rows, int cols, uint64_t seed) {
  Random random(seed);
  TestActivations x(form, rows, cols);
  for (int r = 0; r < rows; ++r) x.set_row(r, test::random_row(random, cols));
  return x;
}

LinearArgs plain_args(const TestActivations& x, const TestWeights& w, const Outputs& out) {
  LinearArgs args;
  args.form = x.form;
  args.x = x.ref();
  args.weight = w.matrix();
  args.out = out;
  return args;
}

std::string spec_name(const PanelSpec& spec) {
  return std::string(codec_name(spec.codec)) + "_" + std::string(scale_mode_name(spec.mode));
}

uint32_t bits(float x) {
  return std::bit_cast<uint32_t>(x);
}

// A level, and its kernels.
class LinearKernels : public testing::TestWithParam<IsaLevel> {
 protected:
  void SetUp() override {
    const auto levels = supported_isa_levels();
    if (std::find(levels.begin(), levels.end(), GetParam()) == levels.end()) {
      GTEST_SKIP() << "this processor has no " << isa_name(GetParam());
    }
    register_cpu_kernels(registry_, GetParam());
  }

  const Kernel& kernel(OpKind kind, ActivationForm form, const PanelSpec& spec) const {
    return registry_.best({.kind = kind, .form = form, .weights = spec});
  }
  // VDPBF16PS rounds in its own way; everything else has one result.
  bool is_bit_exact(ActivationForm form) const {
    return form != ActivationForm::bf16 || GetParam() != IsaLevel::avx512bf16;
  }

  // The row of the product of w and x, perhaps with something added.
  void expect_row(std::span<const float> got, std::span<const float> want, const TestWeights& w,
                  const TestActivations& x, int row) {
    for (int i = 0; i < w.rows; ++i) {
      if (is_bit_exact(x.form)) {
        ASSERT_EQ(bits(got[i]), bits(want[i])) << got[i] << " for " << want[i] << " at " << i;
      } else {
        ASSERT_NEAR(got[i], want[i], order_tolerance(w, x, row, i) + 0x1p-23f * std::abs(want[i]))
            << " at " << i;
      }
    }
  }

  // Runs plain linear for the first `rows` rows and checks every output and nothing behind it.
  void check(const TestWeights& w, const TestActivations& x, int rows,
             const std::vector<std::vector<float>>& want, int chunks = 0) {
    SCOPED_TRACE(testing::Message() << spec_name(w.spec) << " rows " << rows << " K " << w.cols
                                    << " N " << w.rows << " form " << activation_form_name(x.form));
    TestActivations y(ActivationForm::f32, rows + 1, w.rows);
    const LinearArgs args = plain_args(x, w, y.outputs());
    const TestStep step(rows);
    test::run_kernel(kernel(OpKind::linear, x.form, w.spec), &args, step.input, chunks);
    for (int r = 0; r < rows; ++r) {
      expect_row(y.f32_row(r), want[r], w, x, r);
      const float* end = y.f32_row(r).data() + w.rows;
      for (int i = w.rows; i < padded_cols(w.rows); ++i) ASSERT_EQ(bits(*end++), 0u);
    }
    for (const float untouched : y.f32_row(rows)) ASSERT_EQ(bits(untouched), 0xffffffffu);
  }

  KernelRegistry registry_;
};

std::vector<ActivationForm> forms_of(const PanelSpec& spec) {
  if (spec.mode == ScaleMode::none) return {ActivationForm::f32, ActivationForm::bf16};
  return {ActivationForm::f32, ActivationForm::bf16, ActivationForm::int8};
}

// Widths that end within superblocks where formats allow it.
std::vector<int> widths(const PanelSpec& spec) {
  if (spec.mode == ScaleMode::none) return {1, 31, 32, 64, 96, 171, 172, 576, 640, 768, 2048};
  std::vector<int> cols;
  for (const int multiple : {1, 2, 3, 5, 18}) cols.push_back(multiple * part_cols(spec.mode));
  cols.push_back(2048);
  std::erase_if(cols, [](int c) { return c > 2048; });
  return cols;
}

// A multiple of what the formats of a panel need, at least `cols`.
int smallest_cols(const PanelSpec& spec, int cols) {
  return spec.mode == ScaleMode::none ? cols : round_up(cols, part_cols(spec.mode));
}

TEST_P(LinearKernels, EveryWidthGivesTheContractsBits) {
  for (const PanelSpec& spec : test::all_specs()) {
    for (const ActivationForm form : forms_of(spec)) {
      for (const int cols : widths(spec)) {
        const TestWeights w(spec, 33, cols, 7);
        const TestActivations x = random_activations(form, 19, cols, 8);
        check(w, x, 19, expected(w, x));
      }
    }
  }
}

TEST_P(LinearKernels, EveryBatchSizeGivesARowTheSameBits) {
  for (const PanelSpec& spec : test::all_specs()) {
    for (const ActivationForm form : forms_of(spec)) {
      const int cols = smallest_cols(spec, 96);
      const TestWeights w(spec, 192, cols, 1);
      const TestActivations x = random_activations(form, 33, cols, 2);
      const auto want = expected(w, x);
      for (int rows = 1; rows <= 33; ++rows) check(w, x, rows, want);
      for (const int chunks : {1, 2, 3, 5, 11}) check(w, x, 33, want, chunks);
    }
  }
}

TEST_P(LinearKernels, EveryNumberOfFeaturesIsWrittenExactly) {
  for (const PanelSpec& spec : test::all_specs()) {
    for (const ActivationForm form : forms_of(spec)) {
      const int cols = smallest_cols(spec, 64);
      const TestActivations x = random_activations(form, 17, cols, 3);
      for (const int features : {1, 8, 15, 16, 17, 33, 64, 80, 192}) {
        const TestWeights w(spec, features, cols, 4);
        const auto want = expected(w, x);
        for (const int rows : {1, 17}) check(w, x, rows, want);
      }
    }
  }
}

TEST_P(LinearKernels, ManyRowsAreCutIntoBlocksWithoutATrace) {
  for (const PanelSpec& spec :
       {PanelSpec{Codec::c4, ScaleMode::a, 8}, PanelSpec{Codec::c4, ScaleMode::d32, 0}}) {
    const TestWeights w(spec, 40, 2048, 5);
    const TestActivations x = random_activations(ActivationForm::int8, 700, 2048, 6);
    const auto want = expected(w, x);
    for (const int chunks : {0, 1, 5}) check(w, x, 700, want, chunks);
  }
}

// All codes at an end of their range and activations of +-127: where 16-bit sums would saturate.
TEST_P(LinearKernels, ExtremeCodesDoNotSaturate) {
  for (const PanelSpec& spec : test::quantised_specs()) {
    for (const Codes codes : {Codes::largest, Codes::smallest}) {
      const TestWeights w(spec, 17, 512, 9, codes);
      TestActivations x(ActivationForm::int8, 3, 512);
      std::vector<float> row(512, 1.0f);
      x.set_row(0, row);
      for (float& v : row) v = -1.0f;
      x.set_row(1, row);
      for (size_t i = 0; i < row.size(); ++i) row[i] = i / 16 % 2 == 0 ? 1.0f : -1.0f;
      x.set_row(2, row);
      check(w, x, 3, expected(w, x));
    }
  }
}

TEST_P(LinearKernels, BiasIsAddedToTheRoundedProduct) {
  const PanelSpec spec{Codec::c4, ScaleMode::a, 8};
  const TestWeights w(spec, 40, 96, 11);
  const TestActivations x = random_activations(ActivationForm::int8, 5, 96, 12);
  auto want = expected(w, x);
  Random random(13);
  const std::vector<float> bias = test::random_row(random, 40);
  TestActivations y(ActivationForm::f32, 5, 40);
  LinearArgs args = plain_args(x, w, y.outputs());
  args.bias = bias.data();
  test::run_kernel(kernel(OpKind::linear, x.form, spec), &args, TestStep(5).input);
  for (int r = 0; r < 5; ++r) {
    for (int f = 0; f < 40; ++f) want[r][f] += bias[f];
    expect_row(y.f32_row(r), want[r], w, x, r);
  }
}

TEST_P(LinearKernels, TheMatrixFactorComesBeforeTheBias) {
  const PanelSpec spec{Codec::c4, ScaleMode::a, 8};
  const TestWeights w(spec, 40, 96, 21);
  const TestActivations x = random_activations(ActivationForm::int8, 5, 96, 22);
  auto want = expected(w, x);
  Random random(23);
  const std::vector<float> bias = test::random_row(random, 40);
  TestActivations y(ActivationForm::f32, 5, 40);
  LinearArgs args = plain_args(x, w, y.outputs());
  args.weight.scale = 0.37f;
  args.bias = bias.data();
  test::run_kernel(kernel(OpKind::linear, x.form, spec), &args, TestStep(5).input);
  for (int r = 0; r < 5; ++r) {
    for (int f = 0; f < 40; ++f) want[r][f] = want[r][f] * 0.37f + bias[f];
    expect_row(y.f32_row(r), want[r], w, x, r);
  }
}

TEST_P(LinearKernels, LinearAddMayOverwriteItsResidual) {
  for (const PanelSpec& spec : test::all_specs()) {
    for (const ActivationForm form : forms_of(spec)) {
      const TestWeights w(spec, 72, 256, 14);
      const TestActivations x = random_activations(form, 18, 256, 15);
      auto want = expected(w, x);
      TestActivations y = random_activations(ActivationForm::f32, 18, 72, 16);
      for (int r = 0; r < 18; ++r) {
        for (int f = 0; f < 72; ++f) want[r][f] = y.f32_row(r)[f] + want[r][f];
      }
      LinearArgs args = plain_args(x, w, y.outputs());
      args.kind = OpKind::linear_add;
      args.residual = y.ref();
      test::run_kernel(kernel(OpKind::linear_add, form, spec), &args, TestStep(18).input);
      for (int r = 0; r < 18; ++r) expect_row(y.f32_row(r), want[r], w, x, r);
    }
  }
}

// The results of one level, to be compared with the next level's.
std::map<std::string, std::vector<uint32_t>>& results() {
  static std::map<std::string, std::vector<uint32_t>> all;
  return all;
}

TEST_P(LinearKernels, LinearGluIsActivatedGateTimesUpOnEveryLevel) {
  for (const PanelSpec& spec : test::all_specs()) {
    for (const ActivationForm form : forms_of(spec)) {
      for (const Activation activation : {Activation::silu, Activation::gelu_tanh}) {
        const int features = 80, rows = 18;
        const TestWeights gate(spec, features, 256, 17), up(spec, features, 256, 18);
        const TestActivations x = random_activations(form, rows, 256, 19);
        const auto g = expected(gate, x), u = expected(up, x);
        TestActivations y(ActivationForm::f32, rows, features);
        TestActivations small(ActivationForm::int8, rows, features);
        TestActivations half(ActivationForm::bf16, rows, features);
        LinearArgs args = plain_args(x, gate, {y.ref(), half.ref(), small.ref()});
        args.kind = OpKind::linear_glu;
        args.up = up.matrix();
        args.activation = activation;
        test::run_kernel(kernel(OpKind::linear_glu, form, spec), &args, TestStep(rows).input);

        std::vector<uint32_t> found;
        TestActivations small_want(ActivationForm::int8, rows, features);
        for (int r = 0; r < rows; ++r) {
          for (int f = 0; f < features; ++f) {
            const double want = reference_activation(activation, g[r][f]) * u[r][f];
            // Where the gate is closed, the rounding of its exponent shows: relative to the
            // operands.
            const double size = std::abs(want) + 0.1 * std::abs(double{g[r][f]} * u[r][f]);
            double tolerance = 1e-6 * size;
            if (!is_bit_exact(form)) {  // both activations have slopes below 1.13
              tolerance += 1.13 * order_tolerance(gate, x, r, f) * std::abs(u[r][f]) +
                           order_tolerance(up, x, r, f) * std::abs(g[r][f]);
            }
            ASSERT_NEAR(y.f32_row(r)[f], want, tolerance) << spec_name(spec) << r << " " << f;
            found.push_back(bits(y.f32_row(r)[f]));
          }
          small_want.set_row(r, y.f32_row(r));
          for (int b = 0; b < padded_cols(features) / 32; ++b) {
            const Int8Tile& a = small.tile(r, b);
            const Int8Tile& e = small_want.tile(r, b);
            const int lane = r % 16;
            ASSERT_EQ(0, std::memcmp(a.q[lane], e.q[lane], 32)) << r << " " << b;
            ASSERT_EQ(bits(a.scale[lane]), bits(e.scale[lane]));
            ASSERT_EQ(a.neg_sum[lane], e.neg_sum[lane]);
            ASSERT_EQ(a.neg_sum_half[0][lane], e.neg_sum_half[0][lane]);
            ASSERT_EQ(a.neg_sum_half[1][lane], e.neg_sum_half[1][lane]);
          }
          const auto* h = reference_row<uint16_t>(half.ref(), ActivationForm::bf16, r, features);
          for (int f = 0; f < padded_cols(features); ++f) {
            ASSERT_EQ(h[f], f < features ? float_to_bfloat16(y.f32_row(r)[f]) : 0);
          }
        }
        if (!is_bit_exact(form)) continue;
        const std::string key = spec_name(spec) + std::string(activation_form_name(form)) +
                                std::string(activation_name(activation));
        const auto [entry, is_new] = results().try_emplace(key, found);
        ASSERT_TRUE(is_new || entry->second == found) << key;
      }
    }
  }
}

TEST_P(LinearKernels, OneArithmeticServesEveryKindAndBatch) {
  for (const PanelSpec& spec : test::all_specs()) {
    for (const ActivationForm form : forms_of(spec)) {
      for (const OpKind kind : {OpKind::linear, OpKind::linear_add, OpKind::linear_glu}) {
        const OpDesc op{.kind = kind, .form = form, .weights = spec};
        const std::vector<const Kernel*> kernels = registry_.all(op);
        ASSERT_EQ(kernels.size(), 1u) << spec_name(spec);
        EXPECT_EQ(std::string(kernels[0]->arithmetic),
                  kernel(OpKind::linear, form, spec).arithmetic);
      }
    }
  }
}

TEST_P(LinearKernels, Int8ActivationsNeedQuantisedWeights) {
  const OpDesc op{.kind = OpKind::linear,
                  .form = ActivationForm::int8,
                  .weights = {Codec::f32, ScaleMode::none, 0}};
  EXPECT_TRUE(registry_.all(op).empty());
}

INSTANTIATE_TEST_SUITE_P(Levels, LinearKernels,
                         testing::Values(IsaLevel::generic, IsaLevel::avx2, IsaLevel::avxvnni,
                                         IsaLevel::avx512, IsaLevel::avx512bf16),
                         [](const auto& level) { return std::string(isa_name(level.param)); });

}  // namespace
}  // namespace arion
