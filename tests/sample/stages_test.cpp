// Every stage against its definition, on whole rows and on what another stage left.
#include <gtest/gtest.h>

#include "sample/presets.h"
#include "sample/random_rows.h"
#include "sample/reference_stages.h"
#include "sample/stage.h"

namespace arion {
namespace {

using test::Choice;

struct Setting {
  const char* stage;
  SamplingParams params;
};

std::vector<Setting> settings() {
  std::vector<Setting> result;
  const auto add = [&](const char* stage, auto member, std::initializer_list<float> values) {
    for (const float value : values) {
      result.push_back({.stage = stage});
      result.back().params.*member = value;
    }
  };
  for (const int k : {1, 2, 40, 1 << 30}) {
    result.push_back({.stage = "top_k", .params = {.top_k = k}});
  }
  add("top_p", &SamplingParams::top_p, {0.95f, 0.3f, 0.0f});
  add("min_p", &SamplingParams::min_p, {0.05f, 0.5f, 1e-6f});
  add("typical_p", &SamplingParams::typical_p, {0.95f, 0.2f});
  add("top_n_sigma", &SamplingParams::top_n_sigma, {1.0f, 2.5f});
  add("top_h", &SamplingParams::top_h, {0.4f, 0.9f});
  add("epsilon_cutoff", &SamplingParams::epsilon_cutoff, {3e-4f, 0.1f});
  add("eta_cutoff", &SamplingParams::eta_cutoff, {3e-4f, 0.1f});
  add("temperature", &SamplingParams::temperature, {0.5f});
  for (const float probability : {0.5f, 1.0f}) {
    for (const float threshold : {0.1f, 0.01f}) {
      result.push_back({.stage = "xtc"});
      result.back().params.xtc = {.probability = probability, .threshold = threshold};
    }
  }
  for (const float exponent : {1.0f, 0.5f, 3.0f}) {
    result.push_back({.stage = "temperature", .params = {.temperature = 0.8f}});
    result.back().params.dynatemp_range = 0.7f;
    result.back().params.dynatemp_exponent = exponent;
  }
  return result;
}

std::vector<Candidate> left(Survivors& survivors) {
  const std::span<const Candidate> sorted = survivors.sorted();
  return {sorted.begin(), sorted.end()};
}

// What happened before the stage under test: nothing, truncation, or a high temperature.
enum class Before { nothing, top_k, temperature };

void prepare(Before before, Survivors& survivors, Choice& choice) {
  if (before == Before::top_k) {
    survivors.keep_first(50);
    choice.tokens.resize(std::min<size_t>(choice.tokens.size(), 50));
  }
  if (before == Before::temperature) {
    survivors.set_temperature(1.75f);
    choice.temperature = 1.75;
  }
}

TEST(Stages, EqualTheirDefinitionsOnAThousandRows) {
  const std::vector<Setting> all = settings();
  int compared = 0, skipped = 0;
  ScannedRow scanned;
  Survivors survivors;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const std::vector<float> row = test::random_row(seed);
    const Choice untouched(row);
    scanned.scan(row);
    const SampleKey key{.seed = seed};
    const double draw = uniform(key, NoisePurpose::xtc);
    for (size_t s = 0; s < all.size(); ++s) {
      const auto before = static_cast<Before>((seed + s) % 3);
      Choice expected = untouched;
      survivors.start(scanned);
      prepare(before, survivors, expected);
      const Stage& stage = *find_stage(all[s].stage);
      ASSERT_TRUE(stage.is_on(all[s].params)) << stage.name;
      ASSERT_NO_THROW(stage.check(all[s].params)) << stage.name;
      if (before == Before::temperature && stage.name == std::string("temperature")) continue;
      stage.apply(survivors, all[s].params, key);
      test::reference_stages().at(all[s].stage)(expected, all[s].params, draw);
      if (expected.is_on_the_line) {
        ++skipped;
        continue;
      }
      ++compared;
      ASSERT_EQ(left(survivors), expected.tokens) << stage.name << ", seed " << seed;
      ASSERT_EQ(survivors.peak(), expected.tokens.front().logit) << stage.name;
      ASSERT_NEAR(static_cast<double>(survivors.temperature()), expected.temperature, 1e-4)
          << stage.name << ", seed " << seed;
    }
  }
  EXPECT_GT(compared, 25000);
  EXPECT_LT(skipped, compared / 20);
}

TEST(Stages, AllHaveADefinitionHereAndAPlaceInEveryPreset) {
  for (const Stage* stage : all_stages()) {
    EXPECT_TRUE(test::reference_stages().contains(stage->name)) << stage->name;
    EXPECT_FALSE(stage->is_on({})) << stage->name << " is on by default";
    for (const SamplingPreset& preset : sampling_presets()) {
      EXPECT_EQ(std::count(preset.order.begin(), preset.order.end(), stage->name), 1)
          << stage->name << " in " << preset.name;
      EXPECT_EQ(preset.order.size(), all_stages().size());
    }
  }
}

TEST(Stages, LeaveOneTokenAtLeast) {
  ScannedRow scanned;
  Survivors survivors;
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  for (const std::vector<float>& row :
       {std::vector<float>{3.0f}, {kNever, -3e38f}, {3e38f, -3e38f, kNever}, {0, 0, 0, 0}}) {
    scanned.scan(row);
    for (const Setting& setting : settings()) {
      survivors.start(scanned);
      find_stage(setting.stage)->apply(survivors, setting.params, {});
      ASSERT_GE(survivors.sorted().size(), 1u) << setting.stage;
      ASSERT_TRUE(std::isfinite(survivors.sorted()[0].logit)) << setting.stage;
    }
  }
}

std::vector<Candidate> apply_all(const std::vector<float>& row, const SamplingParams& params) {
  ScannedRow scanned;
  scanned.scan(row);
  Survivors survivors;
  survivors.start(scanned);
  for_each_stage(params, [&](const Stage& stage) { stage.apply(survivors, params, {}); });
  return left(survivors);
}

TEST(Stages, FlatRowsNeedMoreThanTheFirstGuess) {
  const std::vector<float> row(20000, 0.5f);
  EXPECT_EQ(apply_all(row, {.top_p = 0.5f}).size(), 10000u);
  EXPECT_EQ(apply_all(row, {.top_p = 0.999999f}).size(), 20000u);
  EXPECT_EQ(apply_all(row, {.typical_p = 0.5f}).size(), 10000u);
}

// Corpus case 071: p = B .6629, C .2439, D .0897, rest .0035 in all.
TEST(Stages, BoundariesPickExactlyTheRightSet) {
  const auto letters = [](const SamplingParams& params) {
    std::string set;
    for (const Candidate& c : apply_all(test::iid_row(), params)) {
      set += c.logit > -8.0f ? static_cast<char>(c.id) : '.';
    }
    return set;
  };
  EXPECT_EQ(letters({.top_p = 0.5f}), "B");
  EXPECT_EQ(letters({.top_p = 0.7f}), "BC");
  EXPECT_EQ(letters({.top_p = 0.95f}), "BCD");
  EXPECT_EQ(letters({.min_p = 0.3f}), "BC");
  EXPECT_EQ(letters({.min_p = 0.4f}), "B");
  EXPECT_EQ(letters({.min_p = 0.1f}), "BCD");
  EXPECT_EQ(letters({.top_p = 1.0f, .min_p = 0.0f}).size(), 320u);
  EXPECT_EQ(letters({.top_k = 2}), "BC");
  EXPECT_EQ(letters({.top_k = 0}).size(), 320u);
  EXPECT_EQ(letters({.top_k = -1}).size(), 320u);
}

TEST(Stages, ApplyInTheOrderOfThePreset) {
  const auto count = [](const char* preset, SamplingParams params) {
    apply_preset(preset, params);
    return apply_all(test::iid_row(), params).size();
  };
  // At temperature 2 C has 61 % of B's probability, at 1 only 37 %.
  const SamplingParams min_p{.min_p = 0.5f, .temperature = 2};
  EXPECT_EQ(count("default", min_p), 1u);
  EXPECT_EQ(count("llama.cpp", min_p), 1u);
  EXPECT_EQ(count("vllm", min_p), 2u);
  EXPECT_EQ(count("hf", min_p), 2u);
  // Of B and C alone, B holds 73 %: top-p measures what top-k left.
  EXPECT_EQ(count("default", {.top_k = 2, .top_p = 0.7f}), 1u);
  EXPECT_EQ(count("default", {.top_p = 0.7f}), 2u);
  // Top-p before top-k by a custom order.
  SamplingParams custom{.top_k = 2, .top_p = 0.7f};
  custom.order = {"top_p", "top_k"};
  EXPECT_EQ(apply_all(test::iid_row(), custom).size(), 2u);
}

}  // namespace
}  // namespace arion
