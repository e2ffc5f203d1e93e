// arion bench --load: every request gets its answer, however the load is made.
#include <gtest/gtest.h>

#include "base/error.h"
#include "load_bench_options.h"
#include "program.h"

namespace arion::test {
namespace {

TEST(LoadBench, CountsWhatWasAskedFor) {
  constexpr const char* kLoads[] = {"", "--static", "--no-kv", "--no-prefix", "--request-rate 500"};
  for (const std::string load : kLoads) {
    const Outcome outcome = run_arion("bench " + tiny() +
                                      " --load --json -t 1 --num-prompts 7 --max-concurrency 3 "
                                      "--input-len 4:9 --output-len log:2:8 --prefix-len 32 " +
                                      load);
    ASSERT_EQ(outcome.exit_code, 0) << load << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["requests"], 7);
    // The same requests each time, since the seed is the same.
    EXPECT_EQ(json["prompt_tokens"], 269) << load;
    EXPECT_EQ(json["output_tokens"], 37) << load;
    EXPECT_EQ(json["preemptions"], 0);
    for (const char* name : {"ttft_ms", "tpot_ms", "itl_ms", "e2e_ms"}) {
      EXPECT_LE(json[name]["p50"], json[name]["p99"]) << load << name;
    }
    const bool reuses = load.empty() || load == "--static" || load.starts_with("--request");
    EXPECT_EQ(json["cached_tokens"] > 0, reuses) << load;
    const int tokens = json["computed_tokens"];
    if (load == "--no-prefix") {
      EXPECT_EQ(tokens, 269 + 37 - 7);  // the last token of an answer is not computed
    } else if (load == "--no-kv") {
      EXPECT_GT(tokens, 37 * 36);
    }
  }
}

TEST(LoadBench, OptionsAreChecked) {
  using app::parse_length_range;
  EXPECT_EQ(parse_length_range("7").high, 7);
  EXPECT_EQ(parse_length_range("7:9").high, 9);
  EXPECT_TRUE(parse_length_range("log:7:9").is_logarithmic);
  for (const char* bad :
       {"", "0", "-1", "a", "7:", "9:7", "7:9:11", "log", "log:", "1048577", "7 "}) {
    EXPECT_THROW(parse_length_range(bad), Error) << bad;
    EXPECT_EQ(run_arion("bench --load --input-len '" + std::string(bad) + "' " + tiny()).exit_code,
              2);
  }
  for (const char* bad : {"--num-prompts 0", "--max-concurrency 1025", "--request-rate nan",
                          "--prefix-len -1", "--max-decode-slowdown nan", "--load-seed -1"}) {
    const Outcome outcome = run_arion("bench --load no/such/model.gguf " + std::string(bad));
    EXPECT_EQ(outcome.exit_code, 2) << bad;
    EXPECT_NE(outcome.err.find("number from"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(run_arion("bench --load --static --request-rate 3 " + tiny()).exit_code, 2);
  EXPECT_EQ(run_arion("bench --load --static --no-kv " + tiny()).exit_code, 2);
  EXPECT_EQ(run_arion("bench --load -c 100 " + tiny()).exit_code, 2);
}

}  // namespace
}  // namespace arion::test
