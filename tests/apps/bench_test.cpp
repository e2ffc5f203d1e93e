// arion bench: what it measures and what it refuses to.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "program.h"

namespace arion::test {
namespace {

TEST(Bench, MeasuresEveryTestAsOftenAsAsked) {
  const Outcome outcome = run_arion("bench --json -p 8,16 -p 4 -n 3 -d 2 -r 2 -t 1 " + tiny());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "") << "a progress bar without a terminal";
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["threads"], 1);
  EXPECT_TRUE(json.contains("isa") && json.contains("profile") && json.contains("model"));
  const std::vector<std::string> names = {"pp8", "pp16", "pp4", "tg3"};
  ASSERT_EQ(json["results"].size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const auto& result = json["results"][i];
    EXPECT_EQ(result["test"], names[i]);
    EXPECT_EQ(result["depth"], 2);
    EXPECT_EQ(result["samples_tokens_per_s"].size(), 2u);
    EXPECT_GT(result["median"].get<double>(), 0);
    EXPECT_EQ(result["limit"], i < 3 ? "peak" : "bandwidth");
    ASSERT_EQ(result["limit_tokens_per_s"].size(), 2u);
    double low = 1e300, high = 0;
    for (size_t run = 0; run < 2; ++run) {
      const double share = result["samples_tokens_per_s"][run].get<double>() /
                           result["limit_tokens_per_s"][run].get<double>();
      low = std::min(low, share);
      high = std::max(high, share);
    }
    EXPECT_NEAR(result["share_of_limit"].get<double>(), (low + high) / 2, 1e-9 * high);
  }
}

TEST(Bench, MeasuresTheLimitsOfTheMachineWithoutAModel) {
  const Outcome outcome = run_arion("bench --limits --json -r 1 -t 2 --isa generic");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["isa"], "generic");
  EXPECT_EQ(json["threads"], 2);
  std::set<std::string> reads, peaks;
  for (const auto& read : json["reads"]) {
    EXPECT_GT(read["bytes_per_s"].get<double>(), 0);
    reads.insert(fmt::format("{} {} {}", read["threads"].get<int>(),
                             read["pages"].get<std::string>(), read["streams"].get<int>()));
  }
  EXPECT_EQ(reads.size(), 12u);
  EXPECT_TRUE(reads.contains("1 4K 1") && reads.contains("2 huge 8"));
  for (const auto& peak : json["peaks"]) {
    EXPECT_GT(peak["multiply_adds_per_s"].get<double>(), 0);
    EXPECT_FALSE(peak["instruction"].get<std::string>().empty());
    peaks.insert(fmt::format("{} {}", peak["threads"].get<int>(), peak["form"].get<std::string>()));
  }
  EXPECT_EQ(peaks,
            (std::set<std::string>{"1 bf16", "1 f32", "1 int8", "2 bf16", "2 f32", "2 int8"}));
  for (const char* times : {"barrier_s", "step_start_s"}) {
    EXPECT_GT(json[times]["median"].get<double>(), 0) << times;
    EXPECT_GE(json[times]["p95"].get<double>(), json[times]["median"].get<double>()) << times;
  }
}

TEST(Bench, OneThreadHasNoBarriersToMeasure) {
  const Outcome json = run_arion("bench --limits --json -r 1 -t 1 --isa generic");
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_FALSE(nlohmann::json::parse(json.out).contains("barrier_s"));
  const Outcome text = run_arion("bench --limits -r 1 -t 1");
  ASSERT_EQ(text.exit_code, 0) << text.err;
  for (const char* expected : {"streams", "  1 thread", "huge", "int8", "f32"}) {
    EXPECT_NE(text.out.find(expected), std::string::npos) << expected << text.out;
  }
  EXPECT_EQ(text.out.find("barrier"), std::string::npos);
}

TEST(Bench, LimitsAreOfNoModel) {
  EXPECT_EQ(run_arion("bench --limits " + tiny()).exit_code, 2);
  EXPECT_EQ(run_arion("bench --limits --load").exit_code, 2);
}

TEST(Bench, GeneratesForSeveralSequencesAtOnce) {
  const Outcome outcome = run_arion("bench --json -p 4 -n 3 -b 1,3 -d 2 -r 1 -t 1 " + tiny());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto results = nlohmann::json::parse(outcome.out)["results"];
  ASSERT_EQ(results.size(), 3u) << "prompts are measured once";
  EXPECT_EQ(results[1]["test"], "tg3");
  EXPECT_EQ(results[1]["batch"], 1);
  EXPECT_EQ(results[2]["test"], "tg3x3");
  EXPECT_EQ(results[2]["batch"], 3);
  EXPECT_EQ(run_arion("bench -b 0 " + tiny()).exit_code, 2);
  EXPECT_EQ(run_arion("bench -b 65 " + tiny()).exit_code, 2);
}

TEST(Bench, ComparesWithoutPasses) {
  EXPECT_EQ(run_arion("bench --passes none -p 4 -n 2 -r 1 -t 1 " + tiny()).exit_code, 0);
  EXPECT_EQ(run_arion("bench --passes -nosuch -p 4 -n 2 -r 1 -t 1 " + tiny()).exit_code, 2);
}

TEST(Bench, NothingToMeasureIsAUsageError) {
  const Outcome outcome = run_arion("bench -p 0 -n 0 " + tiny());
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(run_arion("bench -p 0 -n 1 -r 1 -t 1 " + tiny()).exit_code, 0);
}

TEST(Bench, NamesTheTestThatDoesNotFitTheContext) {
  const Outcome model = run_arion("bench -p 16 -n 512 -r 1 " + tiny());  // made for 512 tokens
  EXPECT_EQ(model.exit_code, 2);
  EXPECT_NE(model.err.find("tg512 at depth 1 needs a context of 513 tokens, but the model has 512"),
            std::string::npos)
      << model.err;
  const Outcome asked = run_arion("bench -p 16 -n 4 -d 20 -c 30 -r 1 " + tiny());
  EXPECT_EQ(asked.exit_code, 2);
  EXPECT_NE(asked.err.find("pp16 at depth 20 needs a context of 36 tokens, but -c has 30"),
            std::string::npos)
      << asked.err;
  EXPECT_EQ(run_arion("bench -p 512 -n 511 -r 1 -t 1 " + tiny()).exit_code, 0);
}

}  // namespace
}  // namespace arion::test
