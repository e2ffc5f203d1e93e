// Rotation tables against other implementations, and how models ask for them.
#include "model/rope_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/error.h"
#include "base/odd_numerics.h"
#include "model/edit_model.h"
#include "model/model.h"
#include "op/npy.h"
#include "op/reference.h"
#include "test_data.h"

namespace arion {
namespace {

// Divisors of llama3 as files store them, from the published formula.
std::vector<float> llama3_divisors(int dims, double base, double factor, double low, double high,
                                   double original_context) {
  std::vector<float> divisors;
  for (int i = 0; i < dims / 2; ++i) {
    const double wavelength = 2 * std::numbers::pi * std::pow(base, 2.0 * i / dims);
    double divisor = factor;
    if (wavelength < original_context / high) {
      divisor = 1;
    } else if (wavelength <= original_context / low && high > low) {
      const double s = (original_context / wavelength - low) / (high - low);
      divisor = 1 / ((1 - s) / factor + s);
    }
    divisors.push_back(static_cast<float>(divisor));
  }
  return divisors;
}

// Compares with a table [positions, dims] of cos | sin made by another implementation.
void expect_table(const RopeTable& table, const std::string& name) {
  const auto path = test::corpus_dir() / "data/numerics" / name / "cos_sin_cache.npy";
  ARION_REQUIRE_CORPUS(path);
  const test::Npy cache = test::read_npy(path);
  const size_t pairs = table.inverse_frequencies.size();
  ASSERT_EQ(static_cast<size_t>(cache.shape[1]), 2 * pairs);
  for (int position = 0; position < cache.shape[0]; ++position) {
    const double* row = &cache.values[static_cast<size_t>(position) * 2 * pairs];
    for (size_t i = 0; i < pairs; ++i) {
      const double angle = position * table.inverse_frequencies[i];
      EXPECT_NEAR(std::cos(angle) * table.magnitude, row[i], 2e-5) << name << " " << position;
      EXPECT_NEAR(std::sin(angle) * table.magnitude, row[pairs + i], 2e-5) << name;
    }
  }
}

RopeScaling yarn(double factor, double original_context) {
  return {.type = RopeScaling::Type::yarn, .factor = factor, .original_context = original_context};
}

TEST(RopeTable, FollowsTheGeometricSeries) {
  const RopeTable table = make_rope_table(64, 10000, {}, {});
  ASSERT_EQ(table.inverse_frequencies.size(), 32u);
  EXPECT_EQ(table.magnitude, 1.0f);
  for (int i = 0; i < 32; ++i) {
    EXPECT_NEAR(table.inverse_frequencies[static_cast<size_t>(i)], std::pow(10000, -i / 32.0),
                1e-15);
  }
}

TEST(RopeTable, LinearScalingDividesEveryFrequency) {
  const RopeTable plain = make_rope_table(64, 1e6, {}, {});
  const RopeTable scaled =
      make_rope_table(64, 1e6, {.type = RopeScaling::Type::linear, .factor = 8}, {});
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_DOUBLE_EQ(scaled.inverse_frequencies[i], plain.inverse_frequencies[i] / 8);
  }
  EXPECT_EQ(scaled.magnitude, 1.0f);
}

TEST(RopeTable, YarnMatchesAnotherImplementation) {
  const RopeTable table = make_rope_table(8, 10000, yarn(4, 32), {});
  EXPECT_FLOAT_EQ(table.magnitude, static_cast<float>(0.1 * std::log(4.0) + 1));
  expect_table(table, "long_rope_yarn_neox_f32_truncate");
}

TEST(RopeTable, Llama3DivisorsMatchAnotherImplementation) {
  expect_table(make_rope_table(16, 10000, {}, llama3_divisors(16, 10000, 4, 1, 4, 32)),
               "long_rope_llama3_neox_f32_bands");
  expect_table(make_rope_table(16, 10000, {}, llama3_divisors(16, 10000, 4, 2, 2, 32)),
               "long_rope_llama3_neox_f32_equal_factors");
}

TEST(RopeTable, MagnitudeOfYarnFollowsWhatTheFileSays) {
  auto magnitude = [](auto change) {
    RopeScaling scaling = yarn(4, 32);
    change(scaling);
    return make_rope_table(8, 10000, scaling, {}).magnitude;
  };
  const double natural = 0.1 * std::log(4.0) + 1;
  EXPECT_FLOAT_EQ(magnitude([](RopeScaling& s) { s.attention_factor = 1.1; }), 1.1 * natural);
  EXPECT_FLOAT_EQ(magnitude([](RopeScaling& s) { s.magnitude = 1.25; }), 1.25f);
  EXPECT_FLOAT_EQ(magnitude([](RopeScaling& s) { s.log_multiplier = 1; }), 1.0f);
  EXPECT_FLOAT_EQ(magnitude([](RopeScaling& s) { s.log_multiplier = 0.5; }),
                  natural / (0.05 * std::log(4.0) + 1));
  EXPECT_FLOAT_EQ(magnitude([](RopeScaling& s) { s.factor = 0.5; }), 1.0f);
  EXPECT_FLOAT_EQ(magnitude([](RopeScaling& s) { s.extrapolation = 0; }), 1.0f);
}

TEST(RopeTable, YarnWithoutExtrapolationIsLinear) {
  RopeScaling scaling = yarn(4, 32);
  scaling.extrapolation = 0;
  const RopeTable table = make_rope_table(8, 10000, scaling, {});
  const RopeTable linear =
      make_rope_table(8, 10000, {.type = RopeScaling::Type::linear, .factor = 4}, {});
  EXPECT_EQ(table.inverse_frequencies, linear.inverse_frequencies);
}

TEST(RopeTable, FollowsTheTableOfLlama3) {
  const auto path = test::corpus_dir() / "cases/130/table.json";
  ARION_REQUIRE_CORPUS(path);
  const auto tables = nlohmann::json::parse(test::read_file(path));
  EXPECT_FALSE(tables.empty());
  for (const auto& [name, rows] : tables.items()) {
    double base = 0, factor = 0;
    int dims = 0;
    ASSERT_EQ(std::sscanf(name.c_str(), "theta=%lf,hd=%d,factor=%lf", &base, &dims, &factor), 3);
    const auto divisors = llama3_divisors(dims, base, factor, 1, 4, 8192);
    const RopeTable table = make_rope_table(dims, base, {}, divisors);
    for (const auto& row : rows) {
      const size_t i = row["i"];
      const double expected = row["inv_freq"];
      EXPECT_NEAR(table.inverse_frequencies[i], expected, 1e-6 * expected) << name << " " << i;
      EXPECT_NEAR(divisors[i], row["divisor"].get<double>(), 1e-5 * divisors[i]);
    }
  }
}

TEST(RopeAngles, AreThoseOfDoublePrecisionFarOut) {
  const auto path = test::corpus_dir() / "cases/128/table.json";
  ARION_REQUIRE_CORPUS(path);
  const auto tables = nlohmann::json::parse(test::read_file(path));
  for (const auto& [name, rows] : tables.items()) {
    double base = 0;
    int dims = 0;
    ASSERT_EQ(std::sscanf(name.c_str(), "theta=%lf,hd=%d", &base, &dims), 2);
    const RopeTable table = make_rope_table(dims, base, {}, {});
    for (const auto& row : rows) {
      const int32_t position = row["pos"], run = 0;
      std::vector<float> angles(activation_stride(ActivationForm::f32, dims) / sizeof(float));
      reference_rope_angles({.inverse_frequencies = table.inverse_frequencies.data(),
                             .pairs = dims / 2,
                             .out = {.base = reinterpret_cast<std::byte*>(angles.data())}},
                            {.all = {1, &position, &run}});
      const size_t i = row["i"];
      EXPECT_NEAR(angles[i], row["cos"].get<double>(), row["tol"].get<double>()) << name << row;
      EXPECT_NEAR(angles[i + static_cast<size_t>(dims) / 2], row["sin"].get<double>(),
                  row["tol"].get<double>())
          << name << row;
    }
  }
}

// ---- what a file says ----------------------------------------------------------------------

TEST(RopeOfAModel, ReadsYarnFromTheMetadata) {
  const test::TinyModel tiny{.hidden = 32, .feed_forward = 32, .vocab = 32};
  const std::string bytes = test::edit_model(
      test::write_tiny_model(tiny), {{}, [](GgufWriter& w) {
                                       w.add_string("llama.rope.scaling.type", "yarn");
                                       w.add_f32("llama.rope.scaling.factor", 4);
                                       w.add_u32("llama.rope.scaling.original_context_length", 512);
                                       w.add_f32("llama.rope.scaling.yarn_beta_fast", 16);
                                       w.add_f32("llama.rope.scaling.attn_factor", 1.5f);
                                     }});
  const Model model = describe_model(test::open_in_memory(bytes));
  RopeScaling expected = yarn(4, 512);
  expected.beta_fast = 16;
  expected.attention_factor = 1.5;
  const RopeTable table = make_rope_table(16, 10000, expected, {});
  ASSERT_EQ(model.graph.rope_tables.size(), 1u);
  EXPECT_EQ(model.graph.rope_tables[0].inverse_frequencies, table.inverse_frequencies);
  EXPECT_EQ(model.graph.rope_tables[0].magnitude, table.magnitude);
  EXPECT_NE(table.inverse_frequencies, make_rope_table(16, 10000, {}, {}).inverse_frequencies);
}

TEST(RopeOfAModel, DoesNotDependOnTheFloatingPointModeOfTheCaller) {
  const std::string bytes = test::write_tiny_model({.hidden = 32, .feed_forward = 32, .vocab = 32});
  const auto frequencies = [&] {
    const Model model = describe_model(test::open_in_memory(bytes));
    return model.graph.rope_tables.at(0).inverse_frequencies;
  };
  const auto expected = frequencies();
  const test::OddNumerics odd;
  EXPECT_EQ(frequencies(), expected);
}

TEST(RopeOfAModel, DividesByTheFactorsOfTheFile) {
  const test::TinyModel tiny{.hidden = 32, .feed_forward = 32, .vocab = 32};
  auto with_factors = [&](const std::vector<float>& factors) {
    return test::edit_model(test::write_tiny_model(tiny),
                            {{}, [&](GgufWriter& w) {
                               const auto data = std::as_bytes(std::span(factors));
                               w.add_tensor("rope_freqs.weight",
                                            std::vector<uint64_t>{factors.size()}, 0,
                                            std::vector(data.begin(), data.end()));
                             }});
  };
  const std::string bytes = with_factors({1, 1, 1, 1, 2, 4, 8, 8});
  const Model model = describe_model(test::open_in_memory(bytes));
  const auto plain = make_rope_table(16, 10000, {}, {}).inverse_frequencies;
  const auto& got = model.graph.rope_tables[0].inverse_frequencies;
  EXPECT_EQ(got[3], plain[3]);
  EXPECT_EQ(got[4], plain[4] / 2);
  EXPECT_EQ(got[7], plain[7] / 8);
  for (float bad : {0.0f, -1.0f, NAN}) {
    const std::string wrong = with_factors({1, 1, 1, 1, 1, 1, 1, bad});
    EXPECT_THROW(describe_model(test::open_in_memory(wrong)), Error) << bad;
  }
}

TEST(RopeOfAModel, NeverStretchesTheWindowedLayersOfGemma) {
  test::TinyModel tiny{
      .arch = "gemma3", .layers = 3, .hidden = 32, .feed_forward = 32, .vocab = 32};
  tiny.window = 16;
  tiny.window_period = 3;
  const std::string bytes =
      test::edit_model(test::write_tiny_model(tiny), {{"gemma3.rope.freq_base"}, [](GgufWriter& w) {
                                                        w.add_f32("gemma3.rope.freq_base", 1e6f);
                                                        w.add_f32("gemma3.rope.scaling.factor", 8);
                                                      }});
  const Model model = describe_model(test::open_in_memory(bytes));
  ASSERT_EQ(model.graph.rope_tables.size(), 2u);
  EXPECT_EQ(model.graph.rope_tables[0].inverse_frequencies[0], 1.0 / 8);
  EXPECT_EQ(model.graph.rope_tables[1].inverse_frequencies,
            make_rope_table(16, 10000, {}, {}).inverse_frequencies);
}

}  // namespace
}  // namespace arion
