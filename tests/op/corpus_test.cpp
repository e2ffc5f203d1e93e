// Operations against tensors that PyTorch and vLLM made, and against published tables of angles.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/real_math.h"
#include "cpu/levels.h"
#include "op/implementations.h"
#include "op/npy.h"
#include "op/step.h"
#include "test_data.h"

namespace arion::test {
namespace {

std::filesystem::path numerics(const std::string& name) {
  return corpus_dir() / "data" / "numerics" / name;
}

// Rows of a [tokens, ...] array as an f32 matrix.
Matrix matrix_of(const Npy& array) {
  const int rows = array.shape[0];
  const int cols = static_cast<int>(array.values.size()) / rows;
  Matrix matrix(rows, cols);
  for (int r = 0; r < rows; ++r) {
    const auto begin = array.values.begin() + r * cols;
    matrix.set_row(r, std::vector<float>(begin, begin + cols));
  }
  return matrix;
}

std::vector<float> floats(const Npy& array, float offset = 0) {
  std::vector<float> values;
  for (const double v : array.values) values.push_back(static_cast<float>(v) + offset);
  return values;
}

void expect_close(const Matrix& got, const Npy& want, double absolute, double relative) {
  const std::vector<double> values = got.values();
  ASSERT_EQ(values.size(), want.values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], want.values[i], absolute + relative * std::fabs(want.values[i]))
        << "element " << i;
  }
}

class Corpus : public testing::TestWithParam<Implementation> {};

TEST_P(Corpus, RmsNormMatches) {
  for (const auto& [name, gain_offset, tolerance] :
       {std::tuple{"rmsnorm_f32_8x128", 0.0f, 1e-5}, {"rmsnorm_gemma_bf16_8x128", 1.0f, 8e-3}}) {
    const auto folder = numerics(name);
    ARION_REQUIRE_CORPUS(folder);
    const Matrix x = matrix_of(read_npy(folder / "x.npy"));
    const std::vector<float> gain = floats(read_npy(folder / "weight.npy"), gain_offset);
    Matrix out(x.rows(), x.cols());
    const Step step({{0, x.rows()}});
    const NormArgs args{.cols = x.cols(),
                        .eps = 1e-6f,
                        .x = x.ref(),
                        .gain = gain.data(),
                        .out = {.f32 = out.ref()}};
    run_op(GetParam(), {.kind = OpKind::rms_norm}, &args, step.input());
    expect_close(out, read_npy(folder / "out.npy"), tolerance, tolerance);
  }
}

TEST_P(Corpus, NormWithResidualMatches) {
  const auto folder = numerics("rmsnorm_fused_residual_f32_8x128");
  ARION_REQUIRE_CORPUS(folder);
  const Matrix delta = matrix_of(read_npy(folder / "x.npy"));
  const Matrix x = matrix_of(read_npy(folder / "residual_in.npy"));
  const std::vector<float> gain = floats(read_npy(folder / "weight.npy"));
  Matrix sum(x.rows(), x.cols()), out(x.rows(), x.cols());
  const Step step({{0, x.rows()}});
  const NormArgs args{.cols = x.cols(),
                      .eps = 1e-6f,
                      .x = x.ref(),
                      .delta = delta.ref(),
                      .sum = sum.ref(),
                      .gain = gain.data(),
                      .out = {.f32 = out.ref()}};
  run_op(GetParam(), {.kind = OpKind::norm}, &args, step.input());
  expect_close(sum, read_npy(folder / "residual_out.npy"), 1e-5, 1e-5);
  expect_close(out, read_npy(folder / "out.npy"), 1e-5, 1e-5);
}

TEST_P(Corpus, SiluAndMultiplyMatches) {
  const auto folder = numerics("silu_and_mul_bf16_8x256");
  ARION_REQUIRE_CORPUS(folder);
  Matrix both = matrix_of(read_npy(folder / "x.npy"));
  const int cols = both.cols() / 2;
  Matrix gate(both.rows(), cols), up(both.rows(), cols), out(both.rows(), cols);
  for (int r = 0; r < both.rows(); ++r) {
    gate.set_row(r, both.row(r).first(cols));
    up.set_row(r, both.row(r).last(cols));
  }
  const Step step({{0, both.rows()}});
  const GluArgs args{.cols = cols,
                     .activation = Activation::silu,
                     .gate = gate.ref(),
                     .up = up.ref(),
                     .out = {.f32 = out.ref()}};
  run_op(GetParam(), {.kind = OpKind::glu}, &args, step.input());
  expect_close(out, read_npy(folder / "out.npy"), 8e-3, 8e-3);
}

std::vector<double> inverse_frequencies(double theta, int rotary_dim) {
  std::vector<double> f;
  for (int i = 0; i < rotary_dim / 2; ++i) f.push_back(real::pow(theta, -2.0 * i / rotary_dim));
  return f;
}

TEST_P(Corpus, RopeMatches) {
  for (const auto& [name, tolerance] :
       {std::pair{"rope_f32_pos_short", 1e-5}, {"rope_f32_pos_131k", 2e-2}}) {
    const auto folder = numerics(name);
    ARION_REQUIRE_CORPUS(folder);
    const Npy positions = read_npy(folder / "positions.npy");
    std::vector<TestRun> runs;  // the positions have gaps, so every row is a run of its own
    for (const double p : positions.values) runs.push_back({static_cast<int>(p), 1});
    const Step step(runs);
    const std::vector<double> frequencies = inverse_frequencies(10000, 32);
    Matrix angles(step.rows(), 32);
    const RopeAnglesArgs angle_args{
        .inverse_frequencies = frequencies.data(), .pairs = 16, .out = angles.ref()};
    run_op(GetParam(), {.kind = OpKind::rope_angles}, &angle_args, step.input());
    for (const auto& [tensor, heads] : {std::pair{"q", 4}, {"k", 2}}) {
      const std::string in = std::string(tensor) + "_in.npy",
                        out = std::string(tensor) + "_out.npy";
      const Matrix x = matrix_of(read_npy(folder / in));
      Matrix rotated(x.rows(), x.cols());
      const HeadArgs args{.heads = heads,
                          .head_dim = 64,
                          .x = x.ref(),
                          .angles = angles.ref(),
                          .pairs = 16,
                          .pairing = RopePairing::half_split,
                          .out = rotated.ref()};
      run_op(GetParam(), {.kind = OpKind::rope}, &args, step.input());
      expect_close(rotated, read_npy(folder / out), tolerance, tolerance);
    }
  }
}

// Head norm, rope, KV write and attention of one layer in a row.
TEST_P(Corpus, DenseAttentionMatches) {
  struct Case {
    const char* name;
    double theta;
    int rotary_dim;
  };
  for (const Case& c :
       {Case{"dense_attention_f32_small", 1e4, 4}, Case{"dense_attention_f32_realdims", 1e7, 64}}) {
    const auto folder = numerics(c.name);
    ARION_REQUIRE_CORPUS(folder);
    const Npy q_array = read_npy(folder / "q.npy"), k_array = read_npy(folder / "k.npy");
    const int rows = q_array.shape[0], heads = q_array.shape[1], head_dim = q_array.shape[2];
    const int kv_heads = k_array.shape[1];
    Matrix q = matrix_of(q_array);
    const Matrix k = matrix_of(k_array), v = matrix_of(read_npy(folder / "v.npy"));
    const std::vector<float> q_gain = floats(read_npy(folder / "q_norm_weight.npy"), 1);
    const std::vector<float> k_gain = floats(read_npy(folder / "k_norm_weight.npy"), 1);
    const Step step({{0, rows}}, {{.kv_heads = kv_heads, .head_dim = head_dim}});

    const std::vector<double> frequencies = inverse_frequencies(c.theta, c.rotary_dim);
    const int pairs = c.rotary_dim / 2;
    Matrix angles(rows, c.rotary_dim);
    const RopeAnglesArgs angle_args{
        .inverse_frequencies = frequencies.data(), .pairs = pairs, .out = angles.ref()};
    run_op(GetParam(), {.kind = OpKind::rope_angles}, &angle_args, step.input());

    HeadArgs head{.role = HeadRole::query,
                  .heads = heads,
                  .head_dim = head_dim,
                  .x = q.ref(),
                  .gain = q_gain.data(),
                  .eps = 1e-6f,
                  .angles = angles.ref(),
                  .pairs = pairs,
                  .pairing = RopePairing::half_split,
                  .out = q.ref()};
    run_op(GetParam(), {.kind = OpKind::head_norm}, &head, step.input());
    head.role = HeadRole::key;
    head.heads = kv_heads;
    head.x = k.ref();
    head.gain = k_gain.data();
    head.writes_kv = true;
    head.out = {};
    run_op(GetParam(), {.kind = OpKind::kv_write}, &head, step.input());
    const HeadArgs value{.role = HeadRole::value,
                         .heads = kv_heads,
                         .head_dim = head_dim,
                         .x = v.ref(),
                         .writes_kv = true};
    run_op(GetParam(), {.kind = OpKind::kv_write}, &value, step.input());

    Matrix out(rows, heads * head_dim);
    const AttentionArgs args{.attributes = {.heads = heads,
                                            .kv_heads = kv_heads,
                                            .head_dim = head_dim,
                                            .scale = 1 / std::sqrt(static_cast<float>(head_dim))},
                             .q = q.ref(),
                             .out = {.f32 = out.ref()}};
    run_op(GetParam(), {.kind = OpKind::attention}, &args, step.input());
    expect_close(out, read_npy(folder / "attn.npy"), 2e-4, 2e-4);
  }
}

// Half-precision angles would be off by tenths at the larger positions of this table.
TEST_P(Corpus, RopeAnglesMatchTheTableOfLongPositions) {
  const auto path = corpus_dir() / "cases" / "128" / "table.json";
  ARION_REQUIRE_CORPUS(path);
  const nlohmann::json tables = nlohmann::json::parse(read_file(path));
  for (const auto& [name, theta, head_dim] : {std::tuple{"theta=10000,hd=64", 1e4, 64},
                                              {"theta=500000,hd=128", 5e5, 128},
                                              {"theta=1000000,hd=128", 1e6, 128}}) {
    const std::vector<double> frequencies = inverse_frequencies(theta, head_dim);
    for (const nlohmann::json& entry : tables.at(name)) {
      const Step step({{entry.at("pos").get<int>(), 1}});
      Matrix angles(1, head_dim);
      const RopeAnglesArgs args{
          .inverse_frequencies = frequencies.data(), .pairs = head_dim / 2, .out = angles.ref()};
      run_op(GetParam(), {.kind = OpKind::rope_angles}, &args, step.input());
      const int pair = entry.at("i");
      // The table is rounded to 9 digits; its own tolerance allows f32 angles, ours are fp64.
      EXPECT_NEAR(angles.row(0)[pair], entry.at("cos").get<double>(), 6e-8) << entry;
      EXPECT_NEAR(angles.row(0)[head_dim / 2 + pair], entry.at("sin").get<double>(), 6e-8) << entry;
    }
  }
}

// Frequencies scaled per pair, as the Llama 3.1 formula makes them.
TEST_P(Corpus, RopeAnglesFollowTheGivenFrequencies) {
  const auto path = corpus_dir() / "cases" / "130" / "table.json";
  ARION_REQUIRE_CORPUS(path);
  const nlohmann::json tables = nlohmann::json::parse(read_file(path));
  for (const nlohmann::json& table : tables) {
    std::vector<double> frequencies;
    for (const nlohmann::json& entry : table) frequencies.push_back(entry.at("inv_freq"));
    const int pairs = static_cast<int>(frequencies.size());
    const Step step({{100000, 3}});
    Matrix angles(3, 2 * pairs);
    const RopeAnglesArgs args{.inverse_frequencies = frequencies.data(),
                              .pairs = pairs,
                              .magnitude = 1.5f,
                              .out = angles.ref()};
    run_op(GetParam(), {.kind = OpKind::rope_angles}, &args, step.input());
    for (int row = 0; row < 3; ++row) {
      for (int pair = 0; pair < pairs; ++pair) {
        const double angle = (100000 + row) * frequencies[pair];
        EXPECT_NEAR(angles.row(row)[pair], 1.5 * std::cos(angle), 1.5e-7);
        EXPECT_NEAR(angles.row(row)[pairs + pair], 1.5 * std::sin(angle), 1.5e-7);
      }
    }
  }
}

std::string implementation_name(const testing::TestParamInfo<Implementation>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Reference, Corpus, testing::Values(reference_implementation()),
                         implementation_name);
INSTANTIATE_TEST_SUITE_P(Cpu, Corpus, testing::ValuesIn(cpu_levels()), implementation_name);

}  // namespace
}  // namespace arion::test
