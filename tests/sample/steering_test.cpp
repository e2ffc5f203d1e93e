// Mirostat and adaptive-p: their definitions, their state, and that they steer; guidance.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/error.h"
#include "sample/check_params.h"
#include "sample/guidance.h"
#include "sample/mirostat.h"
#include "sample/random_rows.h"
#include "sample/reference_stages.h"
#include "sample/sampler.h"

namespace arion {
namespace {

using test::Choice;

// The set version 1 or 2 keeps, from the formulas alone; size 0 where rounding may decide.
size_t mirostat_size(const Choice& choice, size_t vocab, int version, double mu) {
  const std::vector<double> p = choice.probabilities();
  if (version == 2) {
    size_t kept = 1;
    const auto is_best = [&](size_t i) { return choice.tokens[i].logit == choice.tokens[0].logit; };
    for (; kept < p.size() && (is_best(kept) || -std::log2(p[kept]) <= mu); ++kept) {
      if (std::abs(-std::log2(p[kept]) - mu) < 1e-4) return 0;
    }
    if (kept < p.size() && std::abs(-std::log2(p[kept]) - mu) < 1e-4) return 0;
    return kept;
  }
  double products = 0, squares = 0;
  for (size_t i = 0; i + 1 < std::min<size_t>(p.size(), 100); ++i) {
    const double t = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
    products += t * (choice.scaled(i) - choice.scaled(i + 1));
    squares += t * t;
  }
  const double s = products / squares, e = s - 1;
  if (!(s > 1e-5)) return 0;
  const double k = std::pow(e * std::exp2(mu) / (1 - std::pow(double(vocab), -e)), 1 / s);
  if (std::abs(k - std::round(k)) < 1e-4 * k) return 0;
  return std::max<size_t>(1, static_cast<size_t>(std::min(k, double(p.size()))));
}

TEST(Mirostat, KeepsWhatItsFormulasSayOnAThousandRows) {
  int compared = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const std::vector<float> row = test::random_row(seed);
    ScannedRow scanned;
    scanned.scan(row);
    for (const int version : {1, 2}) {
      for (const float mu : {-1.0f, 1.5f, 6.0f}) {
        Choice choice(row);
        choice.temperature = 1.25;
        const size_t expected = mirostat_size(choice, row.size(), version, static_cast<double>(mu));
        if (expected == 0) continue;
        ++compared;
        Survivors survivors;
        survivors.start(scanned);
        survivors.set_temperature(1.25f);
        apply_mirostat(survivors, {.version = version}, {.mirostat_mu = mu});
        ASSERT_EQ(survivors.sorted().size(), expected) << "seed " << seed << " version " << version;
      }
    }
  }
  EXPECT_GT(compared, 4500);
}

TEST(Mirostat, UpdatesByTheSurpriseAmongTheTokensKept) {
  std::vector<float> row = {std::log(0.5f), std::log(0.25f), std::log(0.25f)};
  const SamplingParams params{.mirostat = {.version = 2, .tau = 1, .eta = 0.5f}};
  Sampler sampler;
  const Sample all = sampler.sample(row, params, {.seed = 1}, {.state = SamplerState{2.5f}});
  EXPECT_NEAR(all.state.mirostat_mu, all.token == 0 ? 2.5 : 2.0, 1e-5);
  const Sample one = sampler.sample(row, params, {.seed = 1}, {.state = SamplerState{1.5f}});
  EXPECT_EQ(one.token, 0);
  EXPECT_NEAR(one.state.mirostat_mu, 1.5 + 0.5, 1e-5) << "the only token surprises nobody";
}

TEST(Mirostat, HoldsTheSurpriseNearItsTarget) {
  for (const int version : {1, 2}) {
    const SamplingParams params{.mirostat = {.version = version, .tau = 3}};
    Sampler sampler;
    SamplerState state = initial_state(params);
    EXPECT_EQ(state.mirostat_mu, 6.0f);
    double surprise = 0;
    constexpr int kTokens = 400;
    std::vector<float> row(2000);
    for (size_t i = 0; i < row.size(); ++i) row[i] = -1.1f * std::log(static_cast<float>(i + 1));
    for (uint32_t i = 0; i < kTokens; ++i) {
      const float before = state.mirostat_mu;
      state = sampler.sample(row, params, {.seed = 5, .position = i}, {.state = state}).state;
      surprise += (before - state.mirostat_mu) / params.mirostat.eta + params.mirostat.tau;
    }
    EXPECT_NEAR(surprise / kTokens, 3, 0.25) << "version " << version;
  }
}

TEST(AdaptiveP, ReshapesByTheDistanceFromTheAdaptedTargetOnAThousandRows) {
  AdaptiveP adaptive;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const std::vector<float> row = test::random_row(seed);
    ScannedRow scanned;
    scanned.scan(row);
    Survivors survivors;
    survivors.start(scanned);
    const AdaptiveParams params{.target = 0.4f};
    const SamplerState state{.adaptive_sum = 1.5f, .adaptive_weight = 3};
    adaptive.apply(survivors, params, state);
    const Choice choice(row);
    const std::vector<double> p = choice.probabilities();
    std::map<TokenId, double> expected;
    for (size_t i = 0; i < p.size(); ++i) {
      const double d = std::abs(p[i] - (2 * 0.4 - 0.5)) / 0.3;
      expected[choice.tokens[i].id] = 5 - 10 * d * d / (1 + d);
    }
    ASSERT_EQ(survivors.list().size(), expected.size());
    for (const Candidate& c : survivors.list()) {
      ASSERT_NEAR(static_cast<double>(c.logit), expected.at(c.id), 1e-4) << "seed " << seed;
    }
  }
}

TEST(AdaptiveP, AveragesTheProbabilitiesOfWhatWasChosen) {
  std::vector<float> row = {std::log(0.7f), std::log(0.3f)};
  SamplingParams params{.adaptive = {.target = 0.3f, .decay = 0.5f}};
  EXPECT_EQ(initial_state(params), (SamplerState{10, 0.6f, 2}));
  Sampler sampler;
  const Sample sample = sampler.sample(row, params, {.seed = 4});
  EXPECT_NEAR(sample.state.adaptive_sum, (sample.token == 0 ? 0.7 : 0.3) + 0.3, 1e-5);
  EXPECT_EQ(sample.state.adaptive_weight, 2.0f);
}

TEST(SamplerState, SurvivesItsBytesAndRefusesOthers) {
  const SamplerState state{-1.5f, 0.25f, 7};
  EXPECT_EQ(decode_state(encode_state(state)), state);
  EXPECT_EQ(encode_state({1.0f, 0, 0})[3], 0x3f) << "little-endian";
  EXPECT_THROW(decode_state(std::vector<uint8_t>(11)), Error);
  SamplerStateBytes bytes = encode_state(state);
  bytes[3] = 0xff;
  bytes[2] = 0xff;  // NaN
  EXPECT_THROW(decode_state(bytes), Error);
  EXPECT_THROW(decode_state(encode_state({0, -1, 0})), Error);
}

TEST(Guidance, CombinesLogProbabilities) {
  std::vector<float> row = {1, 2, 3, -std::numeric_limits<float>::infinity()};
  const std::vector<float> negative = {3, 2, 1, 0};
  apply_guidance(row, negative, 1.5f);
  const double log_sum = 3 + std::log(1 + std::exp(-1.0) + std::exp(-2.0));
  const double log_negative = 3 + std::log(1 + std::exp(-1.0) + std::exp(-2.0) + std::exp(-3.0));
  for (size_t i = 0; i < 3; ++i) {
    const double p = static_cast<double>(i + 1) - log_sum, n = double(negative[i]) - log_negative;
    EXPECT_NEAR(row[i], 1.5 * (p - n) + n, 1e-5);
  }
  EXPECT_EQ(row[3], -std::numeric_limits<float>::infinity());
  EXPECT_THROW(check_guidance_scale(-1), Error);
  EXPECT_THROW(check_guidance_scale(std::numeric_limits<float>::quiet_NaN()), Error);
  std::vector<float> unusable = {0, 0, 0, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THROW(apply_guidance(unusable, negative, 2), Error);
}

}  // namespace
}  // namespace arion
