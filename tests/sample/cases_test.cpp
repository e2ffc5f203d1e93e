// The public failure cases about sampling, as far as they concern the library.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "sample/check_params.h"
#include "sample/random_rows.h"
#include "sample/sampler.h"
#include "test_data.h"

namespace arion {
namespace {

using nlohmann::json;

constexpr int kVocab = 320;

// As an HTTP interface would read a request.
SamplingParams request_params(const json& body) {
  SamplingParams params{.top_k = body.value("top_k", 0),
                        .top_p = body.value("top_p", 1.0f),
                        .min_p = body.value("min_p", 0.0f),
                        .temperature = body.value("temperature", 1.0f),
                        .typical_p = body.value("typical_p", 1.0f)};
  params.penalties.repetition = body.value("repetition_penalty", 1.0f);
  params.penalties.presence = body.value("presence_penalty", 0.0f);
  const json biases = body.value("logit_bias", json::object());
  for (const auto& [token, bias] : biases.items()) {
    // What is no 32-bit number is no token either.
    const long long id = std::strtoll(token.c_str(), nullptr, 10);
    const bool is_small = id == static_cast<TokenId>(id);
    params.logit_bias.push_back({is_small ? static_cast<TokenId>(id) : -1, bias.get<float>()});
  }
  return params;
}

std::string answer(const json& body, std::vector<float> row, uint64_t seed, uint32_t choice = 0) {
  Sampler sampler;
  std::vector<TokenId> tokens;
  for (const char c : body["prompt"].get<std::string>()) tokens.push_back(c);
  std::string text;
  const size_t prompt = tokens.size();
  for (int i = 0; i < body["max_tokens"]; ++i) {
    const SampleKey key{
        .seed = seed, .choice = choice, .position = static_cast<uint32_t>(tokens.size())};
    tokens.push_back(
        sampler.sample(row, request_params(body), key, {.tokens = tokens, .prompt_tokens = prompt})
            .token);
    text += static_cast<char>(tokens.back());
  }
  return text;
}

json requests(const char* id, const char* file = "requests.json") {
  const auto path = test::corpus_dir() / "cases" / id / file;
  return std::filesystem::exists(path) ? json::parse(test::read_file(path)) : json();
}

#define REQUIRE_CASE(body) \
  if (body.is_null()) GTEST_SKIP() << "no test data"

TEST(SamplingCases, BiasOfATokenOutsideTheVocabularyIsRefusedByName057) {
  const json all = requests("057");
  REQUIRE_CASE(all);
  for (const json& body : all) {
    try {
      check_params(request_params(body), kVocab);
      FAIL() << body;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("expected 0 to 319"), std::string::npos);
    }
  }
}

TEST(SamplingCases, BiasBansAndBoostsInEveryChoice059) {
  const json all = requests("059");
  REQUIRE_CASE(all);
  for (const json& body : all) {
    check_params(request_params(body), kVocab);
    for (int choice = 0; choice < body.value("n", 1); ++choice) {
      const std::string text = answer(body, test::iid_row(), 1, static_cast<uint32_t>(choice));
      if (body.contains("_text")) {
        EXPECT_EQ(text, body["_text"]) << body;
      }
      if (body.contains("_no_text_contains")) {
        EXPECT_EQ(text.find(body["_no_text_contains"].get<std::string>()), std::string::npos);
      }
    }
  }
}

TEST(SamplingCases, TopKOfZeroOrMinusOneIsOffAndOneIsGreedy061) {
  const json all = requests("061");
  REQUIRE_CASE(all);
  const json expect = requests("061", "expect.json");
  constexpr int kDraws = 4000;
  for (const json& body : all) {
    std::map<char, double> share;
    for (uint64_t seed = 0; seed < kDraws; ++seed) {
      share[answer(body, test::iid_row(), seed)[0]] += 1.0 / kDraws;
    }
    const int top_k = body["top_k"];
    if (top_k == 1) {
      EXPECT_EQ(share['B'], share.begin()->second) << "greedy";
      EXPECT_EQ(share.size(), 1u);
    } else if (top_k == 2) {
      EXPECT_EQ(share.size(), 2u);
      EXPECT_NEAR(share['B'], expect["top_k2_at_T2"]["B"], 0.03);
    } else {
      const double outside = 1 - share['B'] - share['C'] - share['D'];
      EXPECT_NEAR(outside, expect["p_outside_BCD_at_T2"], 0.03);
    }
  }
}

TEST(SamplingCases, LogprobsAreTheModelsWhateverTheStages065) {
  const json all = requests("065");
  REQUIRE_CASE(all);
  const json expect = requests("065", "expect.json")["top3"];
  for (const json& entry : all) {
    SamplingParams params = request_params(entry["body"]);
    params.logprobs = 3;
    std::vector<float> row = test::iid_row();
    const Sample sample = Sampler().sample(row, params, {});
    ASSERT_EQ(sample.logprobs->top.size(), 3u);
    float previous = 0;
    for (const auto& [token, logprob] : sample.logprobs->top) {
      EXPECT_NEAR(logprob, expect[std::string(1, static_cast<char>(token))], 1e-5);
      EXPECT_LE(logprob, previous);
      previous = logprob;
    }
  }
}

TEST(SamplingCases, RepetitionPenaltyCountsEachTokenOnce063) {
  const json all = requests("063");
  REQUIRE_CASE(all);
  std::vector<float> row(kVocab, -9.0f);
  row['B'] = -1.0f;
  row['C'] = -1.2f;
  row['E'] = -2.0f;
  for (const json& body : all) EXPECT_EQ(answer(body, row, 0), body["_text"]);
}

TEST(SamplingCases, SeededAnswersAreReproducibleAndSeedsDiffer067) {
  const json body = requests("067", "request.json");
  REQUIRE_CASE(body);
  EXPECT_EQ(answer(body, test::iid_row(), 42), answer(body, test::iid_row(), 42));
  std::set<std::string> texts;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    texts.insert(answer(body, test::iid_row(), seed));
  }
  EXPECT_GE(texts.size(), 10u);
}

TEST(SamplingCases, ExtremeValuesAreRefusedOrSample069) {
  const json all = requests("069");
  REQUIRE_CASE(all);
  int refused = 0;
  for (const json& body : all) {
    if (body.contains("seed")) continue;  // seeds are 64-bit numbers here
    const SamplingParams params = request_params(body);
    try {
      check_params(params, kVocab);
    } catch (const Error&) {
      ++refused;
      continue;
    }
    EXPECT_EQ(params.min_p == 1.0f || params.temperature < 1e-30f, true) << body;
    EXPECT_EQ(answer(body, test::iid_row(), 1), "BBBBBBBB");
  }
  EXPECT_EQ(refused, 10);
}

TEST(SamplingCases, BoundariesPickExactlyTheRightSet071) {
  const json all = requests("071");
  REQUIRE_CASE(all);
  for (const json& body : all) {
    std::set<char> seen;
    for (uint64_t seed = 0; seed < 400; ++seed) seen.insert(answer(body, test::iid_row(), seed)[0]);
    EXPECT_EQ(std::string(seen.begin(), seen.end()), body["_set"]) << body;
  }
}

// The logits of the case are NaN.
TEST(SamplingCases, RowsThatAreNoNumbersAreErrorsAndNeverLogprobs136) {
  for (const float temperature : {0.0f, 1.0f}) {
    std::vector<float> row(kVocab, std::numeric_limits<float>::quiet_NaN());
    const SamplingParams params{.temperature = temperature, .logprobs = 3};
    EXPECT_THROW(Sampler().sample(row, params, {}), Error);
    row = test::iid_row();
    EXPECT_EQ(Sampler().sample(row, {.temperature = 0}, {}).token, 'B') << "others go on";
  }
}

}  // namespace
}  // namespace arion
