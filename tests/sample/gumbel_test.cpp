// The noise's definition, and that the shortcuts of the argmax change nothing.
#include "sample/gumbel.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sample/random_rows.h"

namespace arion {
namespace {

TEST(Gumbel, NoiseEqualsAnIndependentComputation) {
  // From Philox and the two logarithms in Python's integers and doubles.
  const auto noise = [](uint64_t seed, uint32_t choice, uint32_t position, TokenId token) {
    return gumbel_noise({.seed = seed, .choice = choice, .position = position}, NoisePurpose::token,
                        token);
  };
  EXPECT_EQ(noise(0, 0, 0, 0), 0x1.5984b0p-1f);
  EXPECT_EQ(noise(42, 0, 1, 66), -0x1.97a1f2p-2f);
  EXPECT_EQ(noise(42, 1, 1, 66), 0x1.5d4434p+0f);
  EXPECT_EQ(noise(0x123456789abcdef0, 3, 100000, 262143), -0x1.d1c894p-2f);
}

TokenId by_definition(const std::vector<float>& row, float temperature, const SampleKey& key) {
  TokenId best = -1;
  float best_score = -std::numeric_limits<float>::infinity();
  const float peak = *std::max_element(row.begin(), row.end());
  for (size_t i = 0; i < row.size(); ++i) {
    const auto token = static_cast<TokenId>(i);
    const float score =
        (row[i] - peak) / temperature + gumbel_noise(key, NoisePurpose::token, token);
    if (score > best_score) {
      best_score = score;
      best = token;
    }
  }
  return best;
}

TEST(Gumbel, ArgmaxEqualsTheDefinitionForRowsAndForCandidatesInAnyOrder) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const std::vector<float> row = test::random_row(seed);
    const SampleKey key{.seed = seed * 0x9E3779B97F4A7C15u, .choice = seed % 3, .position = seed};
    ScannedRow scanned;
    scanned.scan(row);
    std::vector<Candidate> candidates;
    for (size_t i = row.size(); i-- > 0;) candidates.push_back({static_cast<TokenId>(i), row[i]});
    for (const float temperature : {0.05f, 1.0f, 40.0f}) {
      const TokenId expected = by_definition(row, temperature, key);
      ASSERT_EQ(gumbel_argmax(scanned, temperature, key), expected) << "seed " << seed;
      ASSERT_EQ(gumbel_argmax(candidates, scanned.best().logit, temperature, key), expected)
          << "seed " << seed;
    }
  }
}

TEST(Gumbel, LogitsOfAnySizeAreTheSameUpToTheirDifferences) {
  const std::vector<float> small = {0, 1, 2, -5};
  const std::vector<Candidate> low = {{0, -3e38f}, {1, -3e38f}};
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<Candidate> a, b;
    for (TokenId i = 0; i < 4; ++i) a.push_back({i, small[static_cast<size_t>(i)]});
    for (TokenId i = 0; i < 4; ++i) b.push_back({i, small[static_cast<size_t>(i)] + 4096});
    EXPECT_EQ(gumbel_argmax(a, 2.0f, 1.0f, {.seed = seed}),
              gumbel_argmax(b, 4098.0f, 1.0f, {.seed = seed}));
    EXPECT_LT(gumbel_argmax(low, -3e38f, 1e-5f, {.seed = seed}), 2);
  }
}

TEST(Gumbel, UniformNumbersFillTheirIntervalAndDependOnTheKey) {
  double sum = 0;
  for (uint32_t i = 0; i < 10000; ++i) {
    const double u = uniform({.seed = 3, .position = i}, NoisePurpose::xtc);
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.015);
}

}  // namespace
}  // namespace arion
