// arion explain, and the memory plan of arion inspect, on tiny models.
#include <nlohmann/json.hpp>

#include "model/edit_model.h"
#include "program.h"

namespace arion::test {
namespace {

constexpr const char* kRates = " --bandwidth 10 --peak 1 -t 2 ";

nlohmann::json explain_json(const std::string& arguments) {
  const Outcome outcome = run_arion("explain --json" + (kRates + arguments));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

TEST(Explain, PrintsGraphPassesPlanAndMemoryAsJson) {
  const auto json = explain_json(tiny("llama"));
  EXPECT_EQ(json["architecture"], "llama");
  EXPECT_NE(json["profile"].get<std::string>().find("kv f16"), std::string::npos);
  EXPECT_NE(json["graph"].get<std::string>().find("linear_glu"), std::string::npos);
  size_t nodes = json["passes"][0]["nodes_before"];
  for (const auto& pass : json["passes"]) {
    EXPECT_EQ(pass["nodes_before"], nodes);
    EXPECT_EQ(pass["run"], true);
    nodes = pass["nodes_after"];
  }
  const auto& plan = json["plan"];
  EXPECT_EQ(plan["steps"].size(), nodes);
  EXPECT_EQ(plan["threads"], 2);
  double bytes = 0, seconds = 0, share = 0;
  int barriers = 0;
  for (const auto& step : plan["steps"]) {
    bytes += step["bytes"].get<double>();
    seconds += step["seconds"].get<double>();
    share += step["share"].get<double>();
    barriers += step["barrier"].get<bool>() ? 1 : 0;
    EXPECT_FALSE(step["kernel"].get<std::string>().empty());
  }
  EXPECT_DOUBLE_EQ(plan["bytes"].get<double>(), bytes);
  EXPECT_NEAR(plan["seconds"].get<double>(), seconds, 1e-12);
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_EQ(barriers, 10);
  const auto& memory = json["memory"];
  EXPECT_EQ(memory["kv_groups"].size(), 1u);
  EXPECT_EQ(memory["kv_bytes_per_token"], 2 * 2 * 2 * 16 * 2);  // layers, K and V, heads of 16, f16
  EXPECT_EQ(memory["total_bytes"].get<size_t>(),
            memory["weight_bytes"].get<size_t>() + memory["kv_bytes"].get<size_t>() +
                memory["arena_bytes"].get<size_t>() + memory["scratch_bytes"].get<size_t>());
}

TEST(Explain, TakesTheLargerOfReadingAndComputing) {
  // 10 GB/s and 1 G multiply-adds per second: computing takes 64 rows longer than reading.
  const auto explained = explain_json("--rows 64 " + tiny("llama"));
  for (const auto& step : explained["plan"]["steps"]) {
    const double reading = step["bytes"].get<double>() / 10e9;
    const double computing = step["multiply_adds"].get<double>() / 1e9;
    EXPECT_NEAR(step["seconds"].get<double>(), std::max(reading, computing), 1e-12);
    if (computing > 0) {
      EXPECT_EQ(step["bound"], computing > reading ? "compute" : "memory");
    }
  }
}

TEST(Explain, ShowsFewerFusionsWithoutPasses) {
  const auto all = explain_json(tiny("gemma3"));
  const auto none = explain_json("--passes none " + tiny("gemma3"));
  EXPECT_GT(none["plan"]["steps"].size(), all["plan"]["steps"].size());
  for (const auto& pass : none["passes"]) EXPECT_EQ(pass["run"], !pass["optional"]);
}

TEST(Explain, PrintsText) {
  const Outcome outcome = run_arion("explain" + (kRates + tiny("gemma3")));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* expected :
       {"profile: activations by weight", "fuse_norm", "# layer 3",
        "Plan for 1 row after 512 tokens", "attention", "window 16", "tokens/s", "Memory"}) {
    EXPECT_NE(outcome.out.find(expected), std::string::npos) << expected;
  }
}

TEST(Explain, MeasuresTheMachineUnlessTold) {
  const Outcome outcome = run_arion("explain --json -t 1 " + tiny("llama"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto plan = nlohmann::json::parse(outcome.out)["plan"];
  EXPECT_GT(plan["bandwidth_bytes_per_s"].get<double>(), 1e8);
  ASSERT_FALSE(plan["peak_multiply_adds_per_s"].empty());
  for (const auto& [name, peak] : plan["peak_multiply_adds_per_s"].items()) {
    EXPECT_GT(peak.get<double>(), 1e6) << name;
  }
}

TEST(Explain, MeasuresWhereTheTimeOfAStepGoes) {
  for (const char* step : {"-d 5 --rows 1 ", "-d 3 --rows 20 "}) {
    const auto json = explain_json("--measure " + (step + tiny("llama")));
    const auto& measured = json["measured"];
    EXPECT_GE(measured["runs"], 5);
    double computing = 0, waiting = 0;
    for (const auto& s : json["plan"]["steps"]) {
      computing += s["taken_s"].get<double>();
      waiting += s["waited_s"].get<double>();
    }
    EXPECT_GT(computing, 0);
    EXPECT_GT(waiting, 0);
    EXPECT_NEAR(measured["computing_s"].get<double>(), computing, 1e-9);
    EXPECT_NEAR(measured["waiting_s"].get<double>(), waiting, 1e-9);
    EXPECT_NEAR(measured["outside_s"].get<double>(),
                measured["step_s"].get<double>() - computing - waiting, 1e-9);
    EXPECT_GT(measured["outside_s"], 0);
    EXPECT_GT(measured["share_of_limit"], 0);
  }
  const Outcome text = run_arion("explain --measure -d 8" + (kRates + tiny("llama")));
  ASSERT_EQ(text.exit_code, 0) << text.err;
  for (const char* expected : {"us taken", "threads compute", "% of the bandwidth", "fixed cost"}) {
    EXPECT_NE(text.out.find(expected), std::string::npos) << expected;
  }
}

TEST(Explain, RefusesWhatDoesNotExist) {
  EXPECT_EQ(run_arion("explain --passes -nosuch " + tiny("llama")).exit_code, 2);
  EXPECT_EQ(run_arion("explain --act int4 " + tiny("llama")).exit_code, 2);
  EXPECT_EQ(run_arion("explain --act int8 " + tiny("llama")).exit_code, 2);
  EXPECT_EQ(run_arion("explain --rows 513 " + tiny("llama")).exit_code, 2);
  EXPECT_EQ(run_arion("explain -c 100000 " + tiny("llama")).exit_code, 2);
}

TEST(Inspect, ShowsTheMemoryPlan) {
  const auto json = nlohmann::json::parse(run_arion("inspect --json " + tiny("gemma3")).out);
  EXPECT_EQ(json["memory"]["kv_groups"].size(), 2u);
  EXPECT_GT(json["memory"]["arena_bytes"], 0);
  EXPECT_NE(run_arion("inspect " + tiny("gemma3")).out.find("KV 1"), std::string::npos);
}

TEST(Inspect, DescribesAFileThatIsNoUsableModelAndFails) {
  const TempDir folder;
  const std::string bytes =
      edit_model(read_file(tiny("llama")),
                 {{"llama.block_count"}, [](GgufWriter& w) { w.add_u32("llama.block_count", 0); }});
  const std::string path = folder.write("model.gguf", bytes).string();
  const Outcome json = run_arion("inspect --json " + path);
  EXPECT_EQ(json.exit_code, 3);
  const auto out = nlohmann::json::parse(json.out);
  EXPECT_TRUE(out["memory"].is_null());
  EXPECT_NE(out["problem"].get<std::string>().find("llama.block_count"), std::string::npos);
  EXPECT_FALSE(out["tensors"].empty());
  const Outcome text = run_arion("inspect " + path);
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_NE(text.err.find("llama.block_count"), std::string::npos);
  EXPECT_NE(text.out.find("blk.0.attn_q.weight"), std::string::npos);
}

TEST(Inspect, AcceptsAFileWithoutTensors) {
  const TempDir folder;
  GgufWriter writer;
  writer.add_string("general.architecture", "llama");
  const std::string path = folder.write("vocabulary.gguf", writer.bytes()).string();
  const Outcome outcome = run_arion("inspect --json " + path);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(nlohmann::json::parse(outcome.out)["memory"].is_null());
}

}  // namespace
}  // namespace arion::test
