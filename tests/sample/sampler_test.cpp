// The distribution of samples, log probabilities and the borders of parameters.
#include "sample/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/error.h"
#include "sample/check_params.h"
#include "sample/random_rows.h"

namespace arion {
namespace {

constexpr int kDraws = 100000;

// Chi-square of kDraws samples against the given probabilities; tokens not named are one class.
double chi_square(const std::vector<float>& row, const SamplingParams& params,
                  const std::map<TokenId, double>& expected, bool vary_seed) {
  Sampler sampler;
  std::map<TokenId, int> counts;
  for (uint32_t draw = 0; draw < kDraws; ++draw) {
    const SampleKey key = vary_seed ? SampleKey{.seed = draw, .position = 5}
                                    : SampleKey{.seed = 42, .position = draw};
    const TokenId token = sampler.sample(row, params, key).token;
    ++counts[expected.contains(token) ? token : -1];
  }
  double rest = 1, sum = 0;
  const auto add = [&](double probability, int count) {
    const double mean = probability * kDraws;
    sum += (count - mean) * (count - mean) / mean;
  };
  for (const auto& [token, probability] : expected) {
    add(probability, counts[token]);
    rest -= probability;
  }
  if (rest > 1e-9) {
    add(rest, counts[-1]);
  } else {
    EXPECT_EQ(counts[-1], 0) << "a removed token was sampled";
  }
  return sum;
}

std::map<TokenId, double> softmax_of(const std::vector<std::pair<TokenId, double>>& logits,
                                     double others, double temperature) {
  double total = others;
  for (const auto& [token, logit] : logits) total += std::exp(logit / temperature);
  std::map<TokenId, double> result;
  for (const auto& [token, logit] : logits) result[token] = std::exp(logit / temperature) / total;
  return result;
}

TEST(Sampler, DrawsFollowTheDistributionOverPositionsAndOverSeeds) {
  // 99.99 % quantile of chi-square with 3 degrees of freedom.
  constexpr double kLimit = 21.1;
  for (const double temperature : {1.0, 2.0}) {
    const double others = 317 * std::exp(-8.0 / temperature);
    const auto expected = softmax_of({{'B', 3}, {'C', 2}, {'D', 1}}, others, temperature);
    const SamplingParams params{.temperature = static_cast<float>(temperature)};
    EXPECT_LT(chi_square(test::iid_row(), params, expected, false), kLimit);
    EXPECT_LT(chi_square(test::iid_row(), params, expected, true), kLimit);
  }
}

TEST(Sampler, DrawsAfterStagesFollowTheRenormalisedDistribution) {
  // 99.99 % quantiles with 1 and 2 degrees of freedom.
  const auto two = softmax_of({{'B', 3}, {'C', 2}}, 0, 2.0);
  EXPECT_NEAR(two.at('B'), 0.6225, 1e-4);  // corpus case 061
  EXPECT_LT(chi_square(test::iid_row(), {.top_k = 2, .temperature = 2}, two, false), 15.2);
  const auto three = softmax_of({{'B', 3}, {'C', 2}, {'D', 1}}, 0, 1.0);
  EXPECT_LT(chi_square(test::iid_row(), {.top_p = 0.95f}, three, true), 18.5);
}

// Corpus case 061: p(outside BCD) at temperature 2 is 0.3962.
TEST(Sampler, TopKOfZeroOrMinusOneIsOffAndOneIsGreedy) {
  Sampler sampler;
  for (const int top_k : {0, -1}) {
    int outside = 0;
    for (uint32_t draw = 0; draw < 4000; ++draw) {
      const TokenId token = sampler
                                .sample(test::iid_row(), {.top_k = top_k, .temperature = 2},
                                        {.seed = 1, .position = draw})
                                .token;
      outside += token < 'B' || token > 'D' ? 1 : 0;
    }
    EXPECT_NEAR(outside / 4000.0, 0.3962, 0.03);
  }
  for (uint32_t draw = 0; draw < 400; ++draw) {
    EXPECT_EQ(sampler.sample(test::iid_row(), {.top_k = 1, .temperature = 2}, {.seed = draw}).token,
              'B');
  }
}

TEST(Sampler, GreedyTakesTheLowestOfEqualLogits) {
  Sampler sampler;
  std::vector<float> row(1000, 0.0f);
  row[700] = row[300] = 2.0f;
  for (const float temperature : {0.0f, 1e-40f}) {
    EXPECT_EQ(sampler.sample(row, {.temperature = temperature}, {}).token, 300);
  }
}

TEST(Sampler, DependsOnEveryPartOfTheKey) {
  Sampler sampler;
  const std::vector<float> row(50000, 0.0f);
  const auto draw = [&](const SampleKey& key) { return sampler.sample(row, {}, key).token; };
  const SampleKey key{.seed = 9, .choice = 1, .position = 2};
  EXPECT_EQ(draw(key), draw(key));
  EXPECT_NE(draw(key), draw({.seed = 9 | uint64_t{1} << 40, .choice = 1, .position = 2}));
  EXPECT_NE(draw(key), draw({.seed = 9, .choice = 2, .position = 2}));
  EXPECT_NE(draw(key), draw({.seed = 9, .choice = 1, .position = 3}));
}

// Corpus case 065: log-softmax(3, 2, 1, -8 ...), whatever top-p and top-k.
TEST(Sampler, ModelLogprobsIgnoreTheStages) {
  Sampler sampler;
  for (const SamplingParams& params :
       {SamplingParams{.top_p = 0.01f, .logprobs = 3}, SamplingParams{.top_k = 1, .logprobs = 3},
        SamplingParams{.temperature = 0, .logprobs = 3}}) {
    const Sample sample = sampler.sample(test::iid_row(), params, {});
    ASSERT_TRUE(sample.logprobs);
    ASSERT_EQ(sample.logprobs->top.size(), 3u);
    EXPECT_EQ(sample.token, 'B');
    EXPECT_EQ(sample.logprobs->top[0].id, 'B');
    EXPECT_NEAR(sample.logprobs->top[0].logprob, -0.411122, 1e-5);
    EXPECT_NEAR(sample.logprobs->top[1].logprob, -1.411122, 1e-5);
    EXPECT_NEAR(sample.logprobs->top[2].logprob, -2.411122, 1e-5);
    EXPECT_EQ(sample.logprobs->chosen, sample.logprobs->top[0].logprob);
  }
}

TEST(Sampler, ProcessedLogprobsDescribeWhatTheStagesLeft) {
  Sampler sampler;
  const SamplingParams params{
      .top_k = 2, .temperature = 2, .logprobs = 5, .logprobs_of = LogprobsOf::processed};
  const Sample sample = sampler.sample(test::iid_row(), params, {.seed = 3});
  ASSERT_EQ(sample.logprobs->top.size(), 2u);
  EXPECT_NEAR(sample.logprobs->top[0].logprob, std::log(0.62246), 1e-4);
  EXPECT_NEAR(sample.logprobs->top[1].logprob, std::log(0.37754), 1e-4);

  SamplingParams greedy = params;
  greedy.temperature = 0;
  const Sample certain = sampler.sample(test::iid_row(), greedy, {});
  EXPECT_EQ(certain.logprobs->top, (std::vector<TokenLogprob>{{'B', 0.0f}}));
  EXPECT_EQ(certain.logprobs->chosen, 0.0f);

  SamplingParams off = params;
  off.top_k = 0;
  EXPECT_NEAR(sampler.sample(test::iid_row(), off, {}).logprobs->top[0].logprob,
              std::log((1 - 0.3962) * 0.5065), 2e-3);
}

TEST(Sampler, LogprobsOfZeroGivesTheChosenTokenAlone) {
  Sampler sampler;
  const Sample sample = sampler.sample(test::iid_row(), {.temperature = 0, .logprobs = 0}, {});
  EXPECT_NEAR(sample.logprobs->chosen, -0.411122, 1e-5);
  EXPECT_TRUE(sample.logprobs->top.empty());
  EXPECT_FALSE(sampler.sample(test::iid_row(), {}, {}).logprobs);
}

// Corpus case 069, as far as parameters reach the library.
TEST(Sampler, ParametersOutOfRangeAreErrorsThatNameTheRange) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto message = [](const SamplingParams& params) -> std::string {
    try {
      check_params(params);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message({.temperature = -1}), "temperature is -1, expected a number from 0 to 100");
  EXPECT_NE(message({.temperature = 50000}), "accepted");
  EXPECT_NE(message({.temperature = nan}), "accepted");
  EXPECT_EQ(message({.top_p = 1.5f}), "top_p is 1.5, expected a number from 0 to 1");
  EXPECT_NE(message({.top_p = -1}), "accepted");
  EXPECT_NE(message({.top_p = nan}), "accepted");
  EXPECT_NE(message({.min_p = -1}), "accepted");
  EXPECT_NE(message({.top_k = -5}), "accepted");
  EXPECT_NE(message({.logprobs = -2}), "accepted");
  EXPECT_NE(message({.logprobs = 1 << 20}), "accepted");
  EXPECT_EQ(message({.top_k = -1, .min_p = 1, .temperature = 1e-40f}), "accepted");
  EXPECT_EQ(message({}), "accepted");
}

TEST(Sampler, AbsentSeedsDifferAndGivenOnesAreKept) {
  EXPECT_EQ(resolve_seed({.seed = 17}), 17u);
  EXPECT_NE(resolve_seed({}), resolve_seed({}));
}

}  // namespace
}  // namespace arion
