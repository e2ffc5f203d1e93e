// What the logits processors of transformers keep, see tests/golden/sample.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sample/guidance.h"
#include "sample/logit_edits.h"
#include "sample/presets.h"
#include "test_data.h"

namespace arion {
namespace {

using nlohmann::json;

class SampleGolden : public testing::Test {
 protected:
  std::vector<float> row(size_t index) const {
    std::vector<float> logits = data_["rows"][index].get<std::vector<float>>();
    for (float& logit : logits) logit /= 64;
    return logits;
  }

  json data_ =
      json::parse(test::read_file(test::source_dir() / "tests/golden/sample/transformers.json"));
};

SamplingParams params_of(const json& stages) {
  SamplingParams params;
  params.top_k = stages.value("top_k", 0);
  params.temperature = stages.value("temperature", 1.0f);
  params.top_p = stages.value("top_p", 1.0f);
  params.min_p = stages.value("min_p", 0.0f);
  params.typical_p = stages.value("typical_p", 1.0f);
  params.epsilon_cutoff = stages.value("epsilon_cutoff", 0.0f);
  params.eta_cutoff = stages.value("eta_cutoff", 0.0f);
  params.top_h = stages.value("top_h", 0.0f);
  apply_preset("hf", params);
  return params;
}

TEST_F(SampleGolden, StagesAloneAndInTheOrderOfTransformersKeepTheSameTokens) {
  ASSERT_GT(data_["cases"].size(), 900u);
  for (const json& c : data_["cases"]) {
    const std::vector<float> logits = row(c["row"]);
    const SamplingParams params = params_of(c["stages"]);
    ScannedRow scanned;
    scanned.scan(logits);
    Survivors survivors;
    survivors.start(scanned);
    for_each_stage(params, [&](const Stage& stage) { stage.apply(survivors, params, {}); });
    std::vector<TokenId> kept;
    for (const Candidate& candidate : survivors.list()) kept.push_back(candidate.id);
    std::sort(kept.begin(), kept.end());
    ASSERT_EQ(kept, c["kept"].get<std::vector<TokenId>>()) << c["stages"] << " row " << c["row"];
  }
}

TEST_F(SampleGolden, RepetitionPenaltyGivesTheSameLogits) {
  for (const json& c : data_["repetition"]) {
    std::vector<float> logits = row(c["row"]);
    const auto tokens = c["tokens"].get<std::vector<TokenId>>();
    std::vector<Candidate> undo;
    RowEdits edits(logits, undo);
    Penalties penalties;
    penalties.apply(edits, {.repetition = c["penalty"].get<float>()}, {.tokens = tokens});
    EXPECT_EQ(logits, c["scores"].get<std::vector<float>>()) << c["row"];
  }
}

TEST_F(SampleGolden, GuidanceGivesTheSameLogProbabilities) {
  for (const json& c : data_["guidance"]) {
    std::vector<float> logits = row(c["row"]), negative = row(c["negative"]);
    logits.resize(c["size"]);
    negative.resize(c["size"]);
    apply_guidance(logits, negative, c["scale"].get<float>());
    for (size_t i = 0; i < logits.size(); ++i) {
      EXPECT_NEAR(logits[i], c["scores"][i].get<double>(), 2e-5);
    }
  }
}

}  // namespace
}  // namespace arion
