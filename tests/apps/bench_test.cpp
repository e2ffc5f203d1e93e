// arion bench: what it measures and what it refuses to.
#include <nlohmann/json.hpp>

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
  }
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
