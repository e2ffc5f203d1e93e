// Penalties, DRY, biases and bans against plain references that try everything.
#include "sample/logit_edits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "sample/random_rows.h"

namespace arion {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

std::vector<float> edited(std::vector<float> row, const SamplingParams& params,
                          const History& history) {
  const std::vector<float> before = row;
  std::vector<float> result;
  std::vector<Candidate> undo;
  LogitEdits logit_edits;
  for (int time = 0; time < 2; ++time) {  // the memory kept between calls must not show
    {
      RowEdits edits(row, undo);
      logit_edits.apply(edits, params, history);
      if (time == 1) {
        EXPECT_EQ(row, result);
      }
      result = row;
    }
    EXPECT_EQ(row, before) << "not restored";
  }
  return result;
}

std::vector<TokenId> last_n(const std::vector<TokenId>& tokens, int n) {
  const auto count =
      n < 0 ? tokens.size() : std::min<size_t>(static_cast<size_t>(n), tokens.size());
  return {tokens.end() - static_cast<ptrdiff_t>(count), tokens.end()};
}

void penalise(std::vector<float>& row, const PenaltyParams& params,
              const std::vector<TokenId>& tokens, size_t prompt) {
  const std::vector<TokenId> seen = last_n(tokens, params.last_n);
  const std::vector<TokenId> answer(tokens.begin() + static_cast<ptrdiff_t>(prompt), tokens.end());
  const std::vector<TokenId> counted = params.counts_prompt ? seen : last_n(answer, params.last_n);
  for (size_t i = 0; i < row.size(); ++i) {
    const auto token = static_cast<TokenId>(i);
    if (std::count(seen.begin(), seen.end(), token) > 0) {
      row[i] = row[i] > 0 ? row[i] / params.repetition : row[i] * params.repetition;
    }
    const auto count = static_cast<float>(std::count(counted.begin(), counted.end(), token));
    if (count > 0) row[i] -= count * params.frequency + params.presence;
  }
}

// Tries every earlier place and compares backwards.
void dry(std::vector<float>& row, const DryParams& params, const std::vector<TokenId>& all) {
  const std::vector<TokenId> tokens = last_n(all, params.last_n);
  const std::set<TokenId> breakers(params.breakers.begin(), params.breakers.end());
  std::vector<int> longest(row.size(), 0);
  for (size_t end = 1; end < tokens.size(); ++end) {  // a suffix that ends before tokens[end]
    int length = 0;
    while (static_cast<size_t>(length) < end) {
      const TokenId token = tokens[tokens.size() - 1 - static_cast<size_t>(length)];
      if (breakers.contains(token) || tokens[end - 1 - static_cast<size_t>(length)] != token) break;
      ++length;
    }
    int& best = longest[static_cast<size_t>(tokens[end])];
    best = std::max(best, length);
  }
  for (size_t i = 0; i < row.size(); ++i) {
    if (longest[i] < params.allowed_length || breakers.contains(static_cast<TokenId>(i))) continue;
    const double power = std::pow(static_cast<double>(params.base),
                                  static_cast<double>(longest[i] - params.allowed_length));
    row[i] -= static_cast<float>(std::min(static_cast<double>(params.multiplier) * power, 1e6));
  }
}

struct Case {
  std::vector<float> row;
  std::vector<TokenId> tokens;
  size_t prompt = 0;
  SamplingParams params;
};

// Few different tokens, so that there are repetitions of all lengths.
Case random_case(uint32_t seed) {
  Case result{.row = test::random_row(seed)};
  std::mt19937 random(seed + 1000);
  const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
  const size_t variety = std::min<size_t>(result.row.size(), 2 + below(12));
  const size_t size = below(120);
  for (size_t i = 0; i < size; ++i) result.tokens.push_back(static_cast<TokenId>(below(variety)));
  result.prompt = below(size + 1);
  const int last_n = below(2) == 0 ? -1 : static_cast<int>(below(150));
  result.params.penalties = {.repetition = below(3) == 0 ? 1.0f : 0.5f + 0.1f * float(below(20)),
                             .presence = below(3) == 0 ? 0.0f : 0.3f * float(below(10)) - 1,
                             .frequency = below(3) == 0 ? 0.0f : 0.1f * float(below(10)) - 0.2f,
                             .last_n = last_n,
                             .counts_prompt = below(2) == 0};
  result.params.dry = {.multiplier = below(3) == 0 ? 0.0f : 0.8f,
                       .base = 1.0f + 0.25f * float(below(5)),
                       .allowed_length = 1 + static_cast<int>(below(3)),
                       .last_n = last_n};
  if (below(2) == 0) result.params.dry.breakers = {0, 3};
  return result;
}

TEST(LogitEdits, PenaltiesAndDryEqualTheirDefinitionsOnAThousandRows) {
  int changed = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const Case c = random_case(seed);
    std::vector<float> expected = c.row;
    penalise(expected, c.params.penalties, c.tokens, c.prompt);
    if (c.params.dry.multiplier > 0) dry(expected, c.params.dry, c.tokens);
    const std::vector<float> result =
        edited(c.row, c.params, {.tokens = c.tokens, .prompt_tokens = c.prompt});
    changed += result != c.row ? 1 : 0;
    ASSERT_EQ(result.size(), expected.size());
    for (size_t i = 0; i < result.size(); ++i) {
      // std::pow may differ in the last bit.
      if (expected[i] != result[i]) {
        ASSERT_NEAR(result[i], expected[i], 1e-6f * std::abs(expected[i])) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(changed, 700);
}

TEST(LogitEdits, RepetitionCountsOnceAndFrequencyEveryTime) {
  const std::vector<TokenId> tokens = {1, 1, 1, 2};
  const std::vector<float> row = {1, 1, -1};
  SamplingParams params;
  params.penalties = {.repetition = 2};
  EXPECT_EQ(edited(row, params, {.tokens = tokens}), (std::vector<float>{1, 0.5f, -2}));
  params.penalties = {.presence = 0.25f, .frequency = 0.5f};
  EXPECT_EQ(edited(row, params, {.tokens = tokens}), (std::vector<float>{1, -0.75f, -1.75f}));
  EXPECT_EQ(edited(row, params, {.tokens = tokens, .prompt_tokens = 3}),
            (std::vector<float>{1, 1, -1.75f}))
      << "the prompt does not count";
  params.penalties.counts_prompt = true;
  params.penalties.last_n = 2;
  EXPECT_EQ(edited(row, params, {.tokens = tokens, .prompt_tokens = 3}),
            (std::vector<float>{1, 0.25f, -1.75f}));
}

TEST(LogitEdits, DryFollowsTheLongestRepetitionUpToABreaker) {
  // 1 2 3 4 ... 1 2 3 asks for 4 again: a match of three, one more than is free.
  const std::vector<TokenId> tokens = {1, 2, 3, 4, 0, 1, 2, 3};
  const std::vector<float> row(6, 0.0f);
  SamplingParams params;
  params.dry = {.multiplier = 1, .base = 2};
  EXPECT_EQ(edited(row, params, {.tokens = tokens}), (std::vector<float>{0, 0, 0, 0, -2, 0}));
  params.dry.breakers = {1};
  EXPECT_EQ(edited(row, params, {.tokens = tokens}), (std::vector<float>{0, 0, 0, 0, -1, 0}));
  params.dry.breakers = {2};
  EXPECT_EQ(edited(row, params, {.tokens = tokens}), row) << "one token is free";
  params.dry.breakers = {4};
  EXPECT_EQ(edited(row, params, {.tokens = tokens}), row) << "breakers are not penalised";
  const std::vector<TokenId> endless(5000, 3);
  params.dry.breakers = {};
  EXPECT_EQ(edited(row, params, {.tokens = endless})[3], -1e6f);
}

TEST(LogitEdits, BadWordsForbidTheTokenThatWouldCompleteThem) {
  const std::vector<float> row(6, 0.0f);
  SamplingParams params{.bad_words = {{5}, {1, 2}, {1, 2, 3}, {0, 2, 4}}};
  EXPECT_EQ(edited(row, params, {}), (std::vector<float>{0, 0, 0, 0, 0, kNever}));
  const std::vector<TokenId> one = {0, 1}, two = {0, 1, 2};
  EXPECT_EQ(edited(row, params, {.tokens = one}), (std::vector<float>{0, 0, kNever, 0, 0, kNever}));
  EXPECT_EQ(edited(row, params, {.tokens = two}), (std::vector<float>{0, 0, 0, kNever, 0, kNever}));
}

TEST(LogitEdits, BiasesAddAndNothingAllowsAForbiddenToken) {
  const std::vector<TokenId> forbidden = {2, 900, -3};
  SamplingParams params{.logit_bias = {{0, 1.5f}, {1, kNever}, {2, 50}, {0, 1.0f}, {3, 100}}};
  EXPECT_EQ(edited({1, 2, 3, kNever}, params, {.forbidden = forbidden}),
            (std::vector<float>{3.5f, kNever, kNever, kNever}));
}

TEST(LogitEdits, TokensOutsideTheRowAndOverflowsDoNoHarm) {
  const std::vector<TokenId> tokens = {-1, 7, 1 << 30, 0, 1};
  SamplingParams params{.logit_bias = {{500, 1}}};
  params.penalties = {.repetition = 0.01f, .frequency = 1};
  params.dry = {.multiplier = 1, .allowed_length = 1};
  const std::vector<float> result = edited({3e38f, -3e38f, 1}, params, {.tokens = tokens});
  EXPECT_EQ(result[0], std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isfinite(result[1]));
}

}  // namespace
}  // namespace arion
