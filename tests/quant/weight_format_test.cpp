// Decoding and encoding against the gguf package and ggml; see golden/quant/make_quant.py.
#include "quant/weight_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>

#include "format_name.h"
#include "npy.h"

namespace arion {
namespace {

using test::floats;
using test::Npy;
using test::read_npy;

std::vector<std::byte> encode(const WeightFormat& format, std::span<const float> row,
                              std::span<const float> importance) {
  std::vector<std::byte> blocks(format.row_bytes(static_cast<int>(row.size())), std::byte{0xee});
  format.encode_row(row, importance, blocks);
  return blocks;
}

std::vector<float> decode(const WeightFormat& format, std::span<const std::byte> blocks) {
  std::vector<float> values(blocks.size() / format.block_bytes() * format.block_values());
  format.decode_row(blocks, values);
  return values;
}

double squared_error(const WeightFormat& format, std::span<const float> row,
                     std::span<const float> importance, std::span<const float> weights) {
  const std::vector<float> values = decode(format, encode(format, row, importance));
  double sum = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const double difference = static_cast<double>(values[i]) - row[i];
    sum += difference * difference * (weights.empty() ? 1.0 : weights[i]);
  }
  return sum;
}

std::vector<float> gaussian(size_t size) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 0.02f);
  std::vector<float> values(size);
  for (float& v : values) v = normal(random);
  return values;
}

class EveryFormat : public testing::TestWithParam<const WeightFormat*> {};

TEST_P(EveryFormat, DecodesRandomBytesAsTheGgufPackageDoes) {
  const WeightFormat& format = *GetParam();
  const Npy records = read_npy("decode_" + std::string(format.name()) + ".npy");
  const int values = std::max(32, format.block_values());
  const size_t block_bytes = format.row_bytes(values);
  ASSERT_EQ(records.row_bytes(), block_bytes + values * sizeof(float));
  size_t numbers = 0;
  for (size_t i = 0; i < records.rows; ++i) {
    const std::vector<float> expected = floats(records.row(i).subspan(block_bytes));
    const std::vector<float> got = decode(format, records.row(i).first(block_bytes));
    for (int k = 0; k < values; ++k) {
      if (std::isnan(expected[k])) {
        ASSERT_TRUE(std::isnan(got[k])) << "block " << i << " value " << k;
        continue;
      }
      ++numbers;
      ASSERT_EQ(std::bit_cast<uint32_t>(expected[k]), std::bit_cast<uint32_t>(got[k]))
          << "block " << i << " value " << k << ": " << expected[k] << " " << got[k];
    }
  }
  EXPECT_GT(numbers, records.rows * values / 2);
}

TEST_P(EveryFormat, IsFoundByNameAndByTypeId) {
  EXPECT_EQ(find_weight_format(GetParam()->name()), GetParam());
  EXPECT_EQ(find_weight_format(GetParam()->gguf_type()), GetParam());
}

TEST_P(EveryFormat, RefusesRowsThatDoNotFitTheirBuffers) {
  const WeightFormat& format = *GetParam();
  const int cols = std::max(64, format.block_values());
  std::vector<float> row(cols);
  std::vector<std::byte> blocks(format.row_bytes(cols) - 1);
  EXPECT_THROW(format.decode_row(blocks, row), std::logic_error);
  EXPECT_THROW(format.encode_row(row, {}, blocks), std::logic_error);
}

TEST_P(EveryFormat, LosesNoMoreThanItsBitsRequire) {
  // Relative root mean square error on Gaussian values; one bit more halves it. The searches of the
  // K formats weigh large values more, which costs Q2_K most.
  const std::map<std::string, double, std::less<>> limits = {
      {"F32", 0},        {"F16", 0.0003},   {"BF16", 0.002},   {"Q8_0", 0.0055}, {"Q6_K", 0.018},
      {"Q5_K", 0.037},   {"Q5_1", 0.039},   {"Q5_0", 0.044},   {"Q4_K", 0.073},  {"IQ4_NL", 0.078},
      {"IQ4_XS", 0.078}, {"Q4_1", 0.080},   {"Q4_0", 0.088},   {"NVFP4", 0.106}, {"MXFP4", 0.116},
      {"IQ3_S", 0.136},  {"Q3_K", 0.155},   {"IQ3_XXS", 0.19}, {"IQ2_S", 0.25},  {"Q2_K", 0.30},
      {"IQ2_XS", 0.30},  {"IQ2_XXS", 0.35}, {"Q2_0", 0.37},    {"IQ1_M", 0.45},  {"IQ1_S", 0.50},
      {"Q1_0", 0.605},   {"TQ1_0", 0.81},   {"TQ2_0", 0.81}};  // TQ: for weights that are ternary
  const WeightFormat& format = *GetParam();
  const std::vector<float> row = gaussian(16384);
  double energy = 0;
  for (const float x : row) energy += static_cast<double>(x) * x;
  const auto limit = limits.find(format.name());
  ASSERT_NE(limit, limits.end()) << "no limit for " << format.name();
  EXPECT_LE(std::sqrt(squared_error(format, row, {}, {}) / energy), limit->second);
}

TEST_P(EveryFormat, EncodesFiniteExtremesIntoFiniteCodesDeterministically) {
  const WeightFormat& format = *GetParam();
  std::vector<float> row(256);
  for (size_t i = 0; i < row.size(); ++i) row[i] = (i % 3 == 0 ? -3e38f : 3e38f) / (i % 7 + 1);
  EXPECT_EQ(encode(format, row, {}), encode(format, row, {}));
  const std::vector<float> ones(row.size(), 1.0f);
  EXPECT_EQ(encode(format, row, ones), encode(format, row, ones));
}

INSTANTIATE_TEST_SUITE_P(Quant, EveryFormat,
                         testing::ValuesIn(weight_formats().begin(), weight_formats().end()),
                         test::format_name);

TEST(WeightFormat, EncodesWithoutImportanceByteForByteAsTheGgufPackageDoes) {
  const Npy input = read_npy("encode_input.npy");
  for (const char* name :
       {"F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "TQ1_0", "TQ2_0", "MXFP4"}) {
    const Npy expected = read_npy("encode_" + std::string(name) + ".npy");
    ASSERT_EQ(expected.rows, input.rows);
    for (size_t i = 0; i < input.rows; ++i) {
      // Of subnormal numbers, the last row, the package converts infinite quotients and wraps
      // exponents.
      if (i + 1 == input.rows && std::string_view(name).find("F16") == std::string_view::npos)
        continue;
      const std::vector<std::byte> got =
          encode(*find_weight_format(name), floats(input.row(i)), {});
      EXPECT_TRUE(std::ranges::equal(got, expected.row(i))) << name << " row " << i;
    }
  }
}

// The scales of the last row, of subnormal numbers, overflow in ggml.
void expect_bytes_of_ggml(const std::string& prefix, std::span<const float> importance,
                          std::initializer_list<const char*> names) {
  const Npy input = read_npy("encode_input.npy");
  for (const char* name : names) {
    const Npy expected = read_npy(prefix + name + ".npy");
    ASSERT_EQ(expected.rows, input.rows);
    for (size_t i = 0; i + 1 < input.rows; ++i) {
      const std::vector<std::byte> got =
          encode(*find_weight_format(name), floats(input.row(i)), importance);
      EXPECT_TRUE(std::ranges::equal(got, expected.row(i))) << prefix << name << " row " << i;
    }
  }
}

TEST(WeightFormat, SearchedScalesAreByteForByteThoseOfGgml) {
  expect_bytes_of_ggml("encode_", {}, {"Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"});
}

TEST(WeightFormat, EncodesWithImportanceByteForByteAsGgmlDoes) {
  expect_bytes_of_ggml(
      "weighted_", floats(read_npy("importance.npy").row(0)),
      {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"});
}

TEST(WeightFormat, GridsErrNoMoreThanThoseOfGgml) {
  const nlohmann::json golden =
      nlohmann::json::parse(test::read_file(test::source_dir() / "tests/golden/quant/quant.json"));
  const Npy input = read_npy("encode_input.npy");
  const std::vector<float> importance = floats(read_npy("importance.npy").row(0));
  for (const char* kind : {"plain", "importance"}) {
    const std::span<const float> weights =
        kind == std::string("plain") ? std::span<const float>() : std::span(importance);
    for (const auto& [name, errors] : golden["ggml_errors"][kind].items()) {
      ASSERT_EQ(errors.size(), input.rows);
      double ratios = 0;
      int count = 0;
      for (size_t i = 0; i < input.rows; ++i) {
        // How near rows of one value, and of values near the least f16, come is chance.
        const std::string pattern = golden["patterns"][i];
        const double expected = errors[i].get<double>();
        if (pattern == "constant" || pattern.ends_with("subnormal") || expected == 0) continue;
        ratios += squared_error(*find_weight_format(name), floats(input.row(i)), weights, weights) /
                  expected;
        ++count;
      }
      ASSERT_GT(count, 20);
      EXPECT_LE(ratios / count, 1) << name << " " << kind;
    }
  }
}

TEST(WeightFormat, ImportanceLowersTheWeightedError) {
  const std::vector<float> importance = floats(read_npy("importance.npy").row(0));
  const std::vector<float> row = gaussian(importance.size());
  for (const char* name :
       {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K", "IQ1_S", "IQ2_XS", "IQ3_S"}) {
    const WeightFormat& format = *find_weight_format(name);
    EXPECT_LT(squared_error(format, row, importance, importance),
              0.95 * squared_error(format, row, {}, importance))
        << name;
  }
}

TEST(WeightFormat, UnknownIdsAndNamesAreNotFound) {
  EXPECT_EQ(find_weight_format(0xffffffffu), nullptr);
  EXPECT_EQ(find_weight_format("Q4_k"), nullptr);
}

}  // namespace
}  // namespace arion
