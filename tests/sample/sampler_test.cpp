// The distribution of samples, log probabilities and the borders of parameters.
#include "sample/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "sample/check_params.h"
#include "sample/presets.h"
#include "sample/random_rows.h"
#include "sample/reference_stages.h"

namespace arion {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The row by value: what a sampler writes into a row is nobody else's business.
Sample sample(std::vector<float> row, const SamplingParams& params, const SampleKey& key = {},
              const History& history = {}) {
  static Sampler sampler;
  return sampler.sample(row, params, key, history);
}

enum class Over { positions, seeds };

// Chi-square of that many samples against the given probabilities; tokens not named are one class.
double chi_square(std::vector<float> row, const SamplingParams& params,
                  const std::map<TokenId, double>& expected, Over over, uint32_t draws = 100000,
                  const History& history = {}) {
  Sampler sampler;
  std::map<TokenId, int> counts;
  for (uint32_t draw = 0; draw < draws; ++draw) {
    const SampleKey key = over == Over::seeds ? SampleKey{.seed = draw, .position = 5}
                                              : SampleKey{.seed = 42, .position = draw};
    const TokenId token = sampler.sample(row, params, key, history).token;
    ++counts[expected.contains(token) ? token : -1];
  }
  double rest = 1, sum = 0;
  const auto add = [&](double probability, int count) {
    const double mean = probability * draws;
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
    EXPECT_LT(chi_square(test::iid_row(), params, expected, Over::positions), kLimit);
    EXPECT_LT(chi_square(test::iid_row(), params, expected, Over::seeds), kLimit);
  }
}

TEST(Sampler, DrawsAfterStagesFollowTheRenormalisedDistribution) {
  // 99.99 % quantiles with 1 and 2 degrees of freedom.
  const auto two = softmax_of({{'B', 3}, {'C', 2}}, 0, 2.0);
  EXPECT_NEAR(two.at('B'), 0.6225, 1e-4);  // corpus case 061
  EXPECT_LT(chi_square(test::iid_row(), {.top_k = 2, .temperature = 2}, two, Over::positions),
            15.2);
  const auto three = softmax_of({{'B', 3}, {'C', 2}, {'D', 1}}, 0, 1.0);
  EXPECT_LT(chi_square(test::iid_row(), {.top_p = 0.95f}, three, Over::seeds), 18.5);
}

// Corpus case 061: p(outside BCD) at temperature 2 is 0.3962.
TEST(Sampler, TopKOfZeroOrMinusOneIsOffAndOneIsGreedy) {
  for (const int top_k : {0, -1}) {
    int outside = 0;
    for (uint32_t draw = 0; draw < 4000; ++draw) {
      const SamplingParams params{.top_k = top_k, .temperature = 2};
      const TokenId token = sample(test::iid_row(), params, {.seed = 1, .position = draw}).token;
      outside += token < 'B' || token > 'D' ? 1 : 0;
    }
    EXPECT_NEAR(outside / 4000.0, 0.3962, 0.03);
  }
  for (uint32_t draw = 0; draw < 400; ++draw) {
    EXPECT_EQ(sample(test::iid_row(), {.top_k = 1, .temperature = 2}, {.seed = draw}).token, 'B');
  }
}

TEST(Sampler, GreedyTakesTheLowestOfEqualLogits) {
  std::vector<float> row(1000, 0.0f);
  row[700] = row[300] = 2.0f;
  for (const float temperature : {0.0f, 1e-40f}) {
    EXPECT_EQ(sample(row, {.temperature = temperature}, {}).token, 300);
  }
}

TEST(Sampler, DependsOnEveryPartOfTheKey) {
  const std::vector<float> row(50000, 0.0f);
  const auto draw = [&](const SampleKey& key) { return sample(row, {}, key).token; };
  const SampleKey key{.seed = 9, .choice = 1, .position = 2};
  EXPECT_EQ(draw(key), draw(key));
  EXPECT_NE(draw(key), draw({.seed = 9 | uint64_t{1} << 40, .choice = 1, .position = 2}));
  EXPECT_NE(draw(key), draw({.seed = 9, .choice = 2, .position = 2}));
  EXPECT_NE(draw(key), draw({.seed = 9, .choice = 1, .position = 3}));
}

// Corpus case 065: log-softmax(3, 2, 1, -8 ...), whatever top-p and top-k.
TEST(Sampler, ModelLogprobsIgnoreTheStages) {
  for (const SamplingParams& params :
       {SamplingParams{.top_p = 0.01f, .logprobs = 3}, SamplingParams{.top_k = 1, .logprobs = 3},
        SamplingParams{.temperature = 0, .logprobs = 3}}) {
    const Sample result = sample(test::iid_row(), params, {});
    ASSERT_TRUE(result.logprobs);
    ASSERT_EQ(result.logprobs->top.size(), 3u);
    EXPECT_EQ(result.token, 'B');
    EXPECT_EQ(result.logprobs->top[0].id, 'B');
    EXPECT_NEAR(result.logprobs->top[0].logprob, -0.411122, 1e-5);
    EXPECT_NEAR(result.logprobs->top[1].logprob, -1.411122, 1e-5);
    EXPECT_NEAR(result.logprobs->top[2].logprob, -2.411122, 1e-5);
    EXPECT_EQ(result.logprobs->chosen, result.logprobs->top[0].logprob);
    EXPECT_EQ(result.logprobs->rank, 1);
  }
}

TEST(Sampler, ProcessedLogprobsDescribeWhatTheStagesLeft) {
  const SamplingParams params{
      .top_k = 2, .temperature = 2, .logprobs = 5, .logprobs_of = LogprobsOf::processed};
  const Sample result = sample(test::iid_row(), params, {.seed = 3});
  ASSERT_EQ(result.logprobs->top.size(), 2u);
  EXPECT_NEAR(result.logprobs->top[0].logprob, std::log(0.62246), 1e-4);
  EXPECT_NEAR(result.logprobs->top[1].logprob, std::log(0.37754), 1e-4);

  for (size_t place = 0; place < 2; ++place) {
    if (result.logprobs->top[place].id == result.token) {
      EXPECT_EQ(result.logprobs->rank, static_cast<int>(place) + 1);
    }
  }

  SamplingParams greedy = params;
  greedy.temperature = 0;
  const Sample certain = sample(test::iid_row(), greedy, {});
  EXPECT_EQ(certain.logprobs->top, (std::vector<TokenLogprob>{{'B', 0.0f}}));
  EXPECT_EQ(certain.logprobs->chosen, 0.0f);

  SamplingParams off = params;
  off.top_k = 0;
  EXPECT_NEAR(sample(test::iid_row(), off, {}).logprobs->top[0].logprob,
              std::log((1 - 0.3962) * 0.5065), 2e-3);
}

TEST(Sampler, LogprobsOfZeroGivesTheChosenTokenAlone) {
  const Sample result = sample(test::iid_row(), {.temperature = 0, .logprobs = 0}, {});
  EXPECT_NEAR(result.logprobs->chosen, -0.411122, 1e-5);
  EXPECT_TRUE(result.logprobs->top.empty());
  EXPECT_FALSE(sample(test::iid_row(), {}, {}).logprobs);
}

// Corpus case 069, as far as parameters reach the library.
TEST(Sampler, ParametersOutOfRangeAreErrorsThatNameTheRange) {
  const auto message = [](const SamplingParams& params) -> std::string {
    try {
      check_params(params, 320);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message({.temperature = -1}), "temperature is -1, expected a number from 0 to 100");
  EXPECT_NE(message({.temperature = 50000}), "accepted");
  EXPECT_NE(message({.temperature = kNan}), "accepted");
  EXPECT_EQ(message({.top_p = 1.5f}), "top_p is 1.5, expected a number from 0 to 1");
  EXPECT_NE(message({.top_p = -1}), "accepted");
  EXPECT_NE(message({.top_p = kNan}), "accepted");
  EXPECT_NE(message({.min_p = -1}), "accepted");
  EXPECT_NE(message({.top_k = -5}), "accepted");
  EXPECT_NE(message({.logprobs = -2}), "accepted");
  EXPECT_NE(message({.logprobs = 1 << 20}), "accepted");
  EXPECT_EQ(message({.typical_p = 0}), "typical_p is 0, expected a number above 0 up to 1");
  EXPECT_NE(message({.typical_p = kNan}), "accepted");
  EXPECT_NE(message({.top_n_sigma = -1}), "accepted");
  EXPECT_NE(message({.top_h = 1.5f}), "accepted");
  EXPECT_NE(message({.epsilon_cutoff = -0.1f}), "accepted");
  EXPECT_NE(message({.eta_cutoff = kNan}), "accepted");
  EXPECT_NE(message({.dynatemp_range = -1}), "accepted");
  EXPECT_NE(message({.dynatemp_exponent = kInfinity}), "accepted");
  EXPECT_NE(message({.xtc = {.probability = 2}}), "accepted");
  EXPECT_NE(message({.xtc = {.threshold = kNan}}), "accepted");
  EXPECT_NE(message({.mirostat = {.version = 3}}), "accepted");
  EXPECT_NE(message({.mirostat = {.tau = kNan}}), "accepted");
  EXPECT_NE(message({.mirostat = {.eta = -1}}), "accepted");
  EXPECT_NE(message({.adaptive = {.target = kNan}}), "accepted");
  EXPECT_NE(message({.adaptive = {.decay = 1}}), "accepted");
  EXPECT_NE(message({.mirostat = {.version = 2}, .adaptive = {.target = 0.5f}}), "accepted");
  EXPECT_EQ(message({.penalties = {.repetition = 0}}),
            "repetition_penalty is 0, expected a number from 0.01 to 100");
  EXPECT_NE(message({.penalties = {.repetition = -3}}), "accepted");
  EXPECT_NE(message({.penalties = {.presence = 1e38f}}), "accepted");
  EXPECT_NE(message({.penalties = {.frequency = kNan}}), "accepted");
  EXPECT_NE(message({.penalties = {.last_n = -2}}), "accepted");
  EXPECT_NE(message({.dry = {.multiplier = -1}}), "accepted");
  EXPECT_NE(message({.dry = {.base = 0.5f}}), "accepted");
  EXPECT_NE(message({.dry = {.allowed_length = 0}}), "accepted");
  EXPECT_NE(message({.dry = {.last_n = -2}}), "accepted");
  EXPECT_NE(message({.dry = {.breakers = {320}}}), "accepted");
  EXPECT_NE(message({.dry = {.breakers = {5, 3}}}), "accepted");
  EXPECT_EQ(message({.logit_bias = {{320, 1}}}), "logit_bias names token 320, expected 0 to 319");
  EXPECT_NE(message({.logit_bias = {{-1, 1}}}), "accepted");
  EXPECT_NE(message({.logit_bias = {{1, kNan}}}), "accepted");
  EXPECT_NE(message({.logit_bias = {{1, kInfinity}}}), "accepted");
  EXPECT_EQ(message({.logit_bias = {{1, -kInfinity}}}), "accepted");
  EXPECT_NE(message({.bad_words = {{}}}), "accepted");
  EXPECT_NE(message({.bad_words = {{1, 999}}}), "accepted");
  EXPECT_EQ(message({.top_k = -1, .min_p = 1, .temperature = 1e-40f}), "accepted");
  EXPECT_EQ(message({}), "accepted");
}

TEST(Sampler, AbsentSeedsDifferAndGivenOnesAreKept) {
  EXPECT_EQ(resolve_seed({.seed = 17}), 17u);
  EXPECT_NE(resolve_seed({}), resolve_seed({}));
}

TEST(Sampler, OrdersNameEveryStageThatIsOnOnce) {
  const auto message = [](const SamplingParams& params) -> std::string {
    try {
      check_params(params, 320);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message({.top_k = 5, .order = {"top_k"}}), "accepted");
  EXPECT_NE(message({.top_k = 5, .order = {"top_p"}}).find("top_k is set but missing"),
            std::string::npos);
  EXPECT_NE(message({.order = {"top_p", "top_p"}}).find("twice"), std::string::npos);
  EXPECT_NE(message({.order = {"top_q"}}).find("expected some of"), std::string::npos);
  SamplingParams params;
  EXPECT_THROW(apply_preset("llamacpp", params), Error);
  for (const SamplingPreset& preset : sampling_presets()) {
    apply_preset(preset.name, params);
    EXPECT_EQ(message(params), "accepted");
    EXPECT_EQ(params.penalties.last_n, preset.penalty_last_n);
  }
}

// With every stage on, and 10^6 draws of the common ones, against the definitions in the order of
// the preset.
void expect_distribution(const SamplingPreset& preset, SamplingParams params, uint32_t draws) {
  const std::vector<float> row = {3,    2.8f, 2.5f, 2.1f, 2,     1.5f,  1.2f, 1,
                                  0.7f, 0.5f, 0.1f, 0,    -0.5f, -1.5f, -3,   -6};
  const std::vector<TokenId> tokens = {1, 4, 4, 2, 7, 4};
  params.penalties = {.repetition = 1.2f, .presence = 0.1f, .frequency = 0.1f};
  params.logit_bias = {{9, 1.0f}};
  apply_preset(preset.name, params);
  check_params(params, 16);

  std::vector<float> edited = row;
  edited[9] += 1.0f;
  const auto prompt = params.penalties.counts_prompt ? 0 : 2;
  for (const TokenId token : {1, 2, 4, 7}) {
    const auto count = std::count(tokens.begin() + prompt, tokens.end(), token);
    float& logit = edited[static_cast<size_t>(token)];
    logit /= 1.2f;
    if (count > 0) logit -= 0.1f + 0.1f * static_cast<float>(count);
  }
  std::map<TokenId, double> expected;
  for (const double draw : {0.0, 1.0}) {  // XTC acts, or does not
    test::Choice choice(edited);
    for (const std::string& stage : params.order) {
      if (find_stage(stage)->is_on(params)) {
        test::reference_stages().at(stage)(choice, params, draw);
      }
    }
    ASSERT_FALSE(choice.is_on_the_line) << preset.name;
    const double acts = static_cast<double>(params.xtc.probability);
    const double share = draw == 0.0 ? acts : 1 - acts;
    const std::vector<double> p = choice.probabilities();
    for (size_t i = 0; i < p.size() && share > 0; ++i) {
      expected[choice.tokens[i].id] += share * p[i];
    }
  }
  ASSERT_GE(expected.size(), 6u) << preset.name;
  const double limit = 2.0 * static_cast<double>(expected.size()) + 24;  // above the 99.99 %
  EXPECT_LT(chi_square(row, params, expected, Over::positions, draws,
                       {.tokens = tokens, .prompt_tokens = 2}),
            limit)
      << preset.name;
}

TEST(Sampler, DrawsFollowTheDistributionOfEveryPreset) {
  SamplingParams common{.top_k = 12, .top_p = 0.97f, .min_p = 0.03f, .temperature = 1.3f};
  SamplingParams all = common;
  all.typical_p = 0.98f;
  all.top_n_sigma = 2.5f;
  all.top_h = 0.95f;
  all.epsilon_cutoff = 0.01f;
  all.eta_cutoff = 0.02f;
  all.xtc = {.probability = 0.4f, .threshold = 0.12f};
  for (const SamplingPreset& preset : sampling_presets()) {
    expect_distribution(preset, common, 1000000);
    expect_distribution(preset, all, 20000);
  }
}

TEST(Sampler, LeavesTheRowAsItWasEvenWhenItThrows) {
  Sampler sampler;
  std::vector<float> row = test::iid_row();
  const std::vector<TokenId> forbidden = {'B'};
  SamplingParams params{.logprobs = 3, .logit_bias = {{'C', 5}}};
  sampler.sample(row, params, {}, {.forbidden = forbidden});
  EXPECT_EQ(row, test::iid_row());
  row = {1, 2};
  params = {.logit_bias = {{0, -kInfinity}, {1, -kInfinity}}};
  EXPECT_THROW(sampler.sample(row, params, {}), Error);
  EXPECT_EQ(row, (std::vector<float>{1, 2}));
}

TEST(Sampler, ModelLogprobsIgnoreEditsAndProcessedOnesShowThem) {
  SamplingParams params{
      .temperature = 0, .logprobs = 3, .logit_bias = {{'B', -kInfinity}, {'D', 4}}};
  const Sample model = sample(test::iid_row(), params);
  EXPECT_EQ(model.token, 'D');
  EXPECT_NEAR(model.logprobs->chosen, -2.411122, 1e-5);
  EXPECT_EQ(model.logprobs->top[0].id, 'B');
  params.temperature = 1;
  params.top_k = 2;
  params.logprobs_of = LogprobsOf::processed;
  const Sample processed = sample(test::iid_row(), params, {.seed = 1});
  ASSERT_EQ(processed.logprobs->top.size(), 2u);
  EXPECT_EQ(processed.logprobs->top[0].id, 'D');
  EXPECT_NEAR(processed.logprobs->top[0].logprob, -std::log(1 + std::exp(-3.0)), 1e-5);
}

TEST(Sampler, StateIsAValueThatRepeatsTheAnswer) {
  for (const int version : {0, 1, 2}) {
    SamplingParams params{.temperature = 0.9f, .mirostat = {.version = version}};
    if (version == 0) params.adaptive = {.target = 0.3f};
    std::vector<float> row = test::random_row(77);
    std::vector<SamplerState> states = {initial_state(params)};
    std::vector<TokenId> tokens;
    Sampler sampler;
    for (uint32_t i = 0; i < 30; ++i) {
      const Sample next = sampler.sample(row, params, {.position = i}, {.state = states.back()});
      tokens.push_back(next.token);
      states.push_back(next.state);
    }
    for (uint32_t i = 30; i-- > 0;) {  // from the end, on another sampler
      const Sample again = sample(row, params, {.position = i}, {.state = states[i]});
      EXPECT_EQ(again.token, tokens[i]);
      EXPECT_EQ(again.state, states[i + 1]);
    }
    EXPECT_NE(states.front(), states.back());
  }
}

TEST(Sampler, HostileRowsAreErrorsOrHaveADefinedAnswer) {
  const std::vector<SamplingParams> all = {{},
                                           {.temperature = 0},
                                           {.top_k = 1 << 30},
                                           {.top_k = 3, .top_p = 0.5f},
                                           {.typical_p = 0.5f},
                                           {.mirostat = {.version = 1}},
                                           {.mirostat = {.version = 2, .tau = 0}},
                                           {.adaptive = {.target = 0.5f}}};
  for (const SamplingParams& params : all) {
    EXPECT_THROW(sample({}, params), Error);
    EXPECT_THROW(sample({1, kNan}, params), Error);
    EXPECT_THROW(sample({1, kInfinity}, params), Error);
    EXPECT_THROW(sample({-kInfinity, -kInfinity}, params), Error);
    EXPECT_EQ(sample({-kInfinity, -3e38f, -kInfinity}, params).token, 1);
    // Adaptive-p: impossible and certain are equally far from one half.
    if (params.adaptive.target < 0) {
      EXPECT_EQ(sample({-3e38f, 3e38f}, params).token, 1);
    }
    EXPECT_EQ(sample({5}, params).token, 0);
    const TokenId tie = sample(std::vector<float>(300, 7.0f), params, {.seed = 3}).token;
    EXPECT_GE(tie, 0);
    EXPECT_LT(tie, 300);
  }
}

}  // namespace
}  // namespace arion
