// arion run: answers, options, and what is refused before a model is loaded.
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "model/edit_model.h"
#include "program.h"
#include "sampling_options.h"

namespace arion::test {
namespace {

using nlohmann::json;

json run_json(const std::string& arguments) {
  const Outcome outcome = run_arion("run --json --raw -t 1 " + arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return json::parse(outcome.out);
}

TEST(Run, WritesTheStoryOfTheReferenceWithAnyNumberOfThreads) {
  const auto model = corpus_dir() / "data/models/stories260K.gguf";
  const auto golden = corpus_dir() / "data/models/stories260K.greedy.json";
  ARION_REQUIRE_CORPUS(model);
  ARION_REQUIRE_CORPUS(golden);
  std::vector<int> expected = json::parse(read_file(golden))["bos_greedy_ids"];
  expected.erase(expected.begin());  // BOS
  ASSERT_EQ(expected.size(), 60u);
  for (const char* threads : {"1", "2", "3"}) {
    const Outcome outcome = run_arion(
        "run " + model.string() + " --raw -p \"\" --temp 0 -n 60 --act fp32 --json -t " + threads);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(json::parse(outcome.out)["tokens"], expected) << threads << " threads";
  }
}

TEST(Run, JsonHasExactlyTheDocumentedKeys) {
  const json out = run_json("--temp 0 -n 4 --seed 7 -p ab " + tiny());
  EXPECT_EQ(keys(out), (std::set<std::string>{"text", "tokens", "prompt_tokens", "finish_reason",
                                              "seed", "timings"}));
  EXPECT_EQ(keys(out["timings"]),
            (std::set<std::string>{"load_ms", "prompt_ms", "decode_ms", "prompt_tokens_per_s",
                                   "decode_tokens_per_s"}));
  EXPECT_EQ(out["prompt_tokens"], json({1, 3, 4, 5}));  // <s>, a space, a, b
  EXPECT_EQ(out["tokens"].size(), 4u);
  EXPECT_EQ(out["finish_reason"], "length");
  EXPECT_EQ(out["seed"], 7);
  const json more = run_json("--temp 0 -n 2 --logprobs 3 -p ab " + tiny());
  ASSERT_EQ(more["logprobs"].size(), 2u);
  EXPECT_EQ(more["logprobs"][0]["top"].size(), 3u);
  EXPECT_EQ(more["logprobs"][0]["top"][0]["id"], more["tokens"][0]);
}

TEST(Run, TheAnswerAloneGoesToStandardOutput) {
  const Outcome outcome = run_arion("run --raw --temp 0 -n 8 -p ab --log-level debug " + tiny());
  EXPECT_EQ(outcome.exit_code, 0);
  const json out = run_json("--temp 0 -n 8 -p ab " + tiny());
  EXPECT_EQ(outcome.out, out["text"].get<std::string>() + "\n");
  EXPECT_NE(outcome.err.find("tokens/s"), std::string::npos);
}

TEST(Run, NumberOfTokensMayBeNoneOrUnlimited) {
  const json none = run_json("-n 0 -p ab " + tiny());
  EXPECT_EQ(none["tokens"], json::array());
  EXPECT_EQ(none["text"], "");
  EXPECT_EQ(none["finish_reason"], "length");
  for (const char* unlimited : {"", "-n -1 "}) {
    const json all = run_json(std::string(unlimited) + "--ignore-eos -c 20 -p ab " + tiny());
    EXPECT_EQ(all["tokens"].size(), 16u) << "a context of 20 less a prompt of 4";
    EXPECT_EQ(all["finish_reason"], "length");
  }
}

TEST(Run, EveryStopStringAndStopIdCounts) {
  const std::string greedy = "--temp 0 --ignore-eos -n 40 -p ab " + tiny();
  const json whole = run_json(greedy);
  const std::string text = whole["text"];
  const std::vector<int> ids = whole["tokens"];
  // What occurs later may stop too, but what occurs first does.
  const std::string late = text.substr(text.size() - 3), early = text.substr(4, 2);
  const size_t stop = text.find(early);
  ASSERT_LT(stop, text.find(late));
  for (const std::string& stops : {"--stop '" + late + "' --stop '" + early + "' ",
                                   "--stop '" + early + "' --stop '" + late + "' "}) {
    const json out = run_json(stops + greedy);
    EXPECT_EQ(out["text"], text.substr(0, stop));
    EXPECT_EQ(out["finish_reason"], "stop");
  }
  const auto last = std::to_string(ids.back()), first = std::to_string(ids[2]);
  for (const std::string& stops : {"--stop-id " + last + " --stop-id " + first + " ",
                                   "--stop-id " + first + " --stop-id " + last + " "}) {
    const json out = run_json(stops + greedy);
    EXPECT_LE(out["tokens"].size(), 3u);
    EXPECT_EQ(out["finish_reason"], "stop");
  }
}

TEST(Run, RefusesOptionsOutOfRangeBeforeAModelIsLoaded) {
  for (const char* wrong : {"--temp -1",
                            "--temp 101",
                            "--temp nan",
                            "--temp x",
                            "--top-p 1.5",
                            "--top-p -0.1",
                            "--min-p 2",
                            "--top-k -2",
                            "--top-k 1.5",
                            "--seed -1",
                            "--seed 18446744073709551616",
                            "-n -2",
                            "--stop-id -1",
                            "--logprobs 1025",
                            "-t -1",
                            "--typical-p 0",
                            "--top-n-sigma nan",
                            "--top-h 2",
                            "--epsilon-cutoff -1",
                            "--eta-cutoff 3",
                            "--dynatemp-range -1",
                            "--xtc-probability 2",
                            "--mirostat 3",
                            "--mirostat 2 --adaptive-target 0.5",
                            "--repetition-penalty 0",
                            "--presence-penalty inf",
                            "--penalty-last-n -2",
                            "--dry-multiplier -1",
                            "--dry-base 0",
                            "--logit-bias 5",
                            "--logit-bias x=1",
                            "--logit-bias 5=nan",
                            "--logit-bias -1=1",
                            "--min-tokens -1",
                            "--sampling-preset gpt",
                            "--sampling-order top_q",
                            "--sampling-order top_k",
                            "--guidance-scale 2",
                            "--negative-prompt x",
                            "--negative-prompt x --guidance-scale 101",
                            "--negative-prompt x --guidance-scale nan",
                            "--bad-word ''",
                            "--logprobs-of all"}) {
    const Outcome outcome = run_arion(std::string("run no/such/model.gguf -p x ") + wrong);
    EXPECT_EQ(outcome.exit_code, 2) << wrong;
    EXPECT_EQ(outcome.err.find("model.gguf"), std::string::npos) << outcome.err;
  }
  for (const std::string name : {"temp",           "top-k",
                                 "typical-p",      "top-n-sigma",
                                 "top-h",          "epsilon-cutoff",
                                 "eta-cutoff",     "dynatemp-range",
                                 "xtc-threshold",  "mirostat",
                                 "mirostat-tau",   "adaptive-target",
                                 "adaptive-decay", "repetition-penalty",
                                 "penalty-last-n", "dry-base",
                                 "dry-last-n",     "negative-prompt x --guidance-scale",
                                 "logprobs",       "ctx"}) {
    const Outcome outcome = run_arion("run no/such/model.gguf -p x --" + name + " ''");
    EXPECT_EQ(outcome.exit_code, 2) << name;
    EXPECT_NE(outcome.err.find("number"), std::string::npos) << name << ": " << outcome.err;
    EXPECT_NE(outcome.err.find("got ''"), std::string::npos) << name << ": " << outcome.err;
  }
  const Outcome right = run_arion("run no/such/model.gguf -p x --temp 100 --top-p 1 --top-k -1");
  EXPECT_NE(right.err.find("model.gguf"), std::string::npos) << right.err;
}

TEST(Run, PenaltiesBiasesAndBansChangeTheAnswer) {
  const std::string greedy = "--temp 0 --ignore-eos -n 30 -p ab " + tiny();
  const std::vector<int> plain = run_json(greedy)["tokens"];
  const auto first = std::to_string(plain[0]);
  EXPECT_NE(run_json("--logit-bias " + first + "=-inf " + greedy)["tokens"][0], plain[0]);
  EXPECT_EQ(run_json("--logit-bias 7=1000 " + greedy)["tokens"], std::vector<int>(30, 7));
  const std::vector<int> varied = run_json("--frequency-penalty 100 " + greedy)["tokens"];
  EXPECT_EQ(std::set<int>(varied.begin(), varied.end()).size(), 30u) << "no token comes twice";
  const json all = run_json(
      "--seed 3 --temp 0.9 --typical-p 0.9 --top-n-sigma 3 --top-h 0.9 --epsilon-cutoff 0.001 "
      "--eta-cutoff 0.001 --dynatemp-range 0.2 --xtc-probability 0.3 --dry-multiplier 0.8 "
      "--repetition-penalty 1.1 --bad-word b --sampling-preset vllm --mirostat 2 -n 20 -p ab " +
      tiny());
  EXPECT_EQ(all["text"].get<std::string>().find('b'), std::string::npos) << all["text"];
  EXPECT_EQ(
      run_json("--adaptive-target 0.4 --seed 3 -n 5 --ignore-eos -p ab " + tiny())["tokens"].size(),
      5u);
  EXPECT_EQ(run_arion("run --raw -p ab --logit-bias 64=1 " + tiny()).exit_code, 3);
}

TEST(Run, GuidanceSteersAwayFromTheNegativePrompt) {
  const std::string greedy = " --temp 0 --ignore-eos -n 30 -p ab " + tiny();
  const json plain = run_json(greedy)["tokens"];
  EXPECT_EQ(run_json("--negative-prompt cd --guidance-scale 1" + greedy)["tokens"], plain);
  EXPECT_NE(run_json("--negative-prompt cd --guidance-scale 3" + greedy)["tokens"], plain);
  // With the same prompt on both sides there is nothing to steer away from.
  EXPECT_EQ(run_json("--negative-prompt ab --guidance-scale 3" + greedy)["tokens"], plain);
  // Both sides have room for the whole context; an empty negative prompt is BOS alone.
  const std::string endless = " --temp 0 --ignore-eos -c 40 -p ab " + tiny();
  const json whole = run_json("--negative-prompt '' --guidance-scale 2" + endless);
  EXPECT_EQ(whole["tokens"].size(), 36u);
  EXPECT_EQ(whole["finish_reason"], "length");
}

TEST(Run, RefusesAStopIdOutsideTheVocabulary) {
  const Outcome outcome = run_arion("run --raw -p ab --stop-id 64 " + tiny());
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("stop id 64"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("0 to 63"), std::string::npos) << outcome.err;
}

TEST(Run, ReadsThePromptFromAFileOrStandardInput) {
  const TempDir folder;
  const std::string file = folder.write("prompt.txt", "ab").string();
  const json expected = run_json("--temp 0 -n 4 -p ab " + tiny());
  EXPECT_EQ(run_json("--temp 0 -n 4 -f " + file + " " + tiny())["tokens"], expected["tokens"]);
  const Outcome piped = run_arion("run --raw --json --temp 0 -n 4 " + tiny(), "ab");
  EXPECT_EQ(json::parse(piped.out)["tokens"], expected["tokens"]);
  EXPECT_EQ(run_arion("run -p ab -f " + file + " " + tiny()).exit_code, 2);
}

TEST(Run, ExplainsWhyAPromptFileCannotBeRead) {
  const TempDir folder;
  const Outcome directory = run_arion("run -f " + folder.path().string() + " " + tiny());
  EXPECT_EQ(directory.exit_code, 2);
  EXPECT_NE(directory.err.find("-f: '" + folder.path().string() + "' is a directory"),
            std::string::npos)
      << directory.err;
  const Outcome device = run_arion("run -f /dev/zero " + tiny());
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_NE(device.err.find("regular file"), std::string::npos) << device.err;
  const Outcome missing = run_arion("run -f no/such.txt " + tiny());
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("-f: cannot read 'no/such.txt'"), std::string::npos) << missing.err;
  EXPECT_EQ(run_arion("run -f '' " + tiny()).exit_code, 2);
}

TEST(Run, WarnsThatASystemMessageNeedsAChatFormat) {
  const std::string arguments = " --system x -n 1 -p ab " + tiny();
  for (const std::string how : {"run --raw", "run"}) {
    const Outcome outcome = run_arion(how + arguments);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find("arion: warning: --system is ignored"), std::string::npos)
        << outcome.err;
  }
  EXPECT_EQ(run_arion("run -n 1 -p ab " + tiny()).err, "");
}

TEST(Run, APromptThatFillsTheContextIsBadInput) {
  const Outcome outcome = run_arion("run --raw -c 8 -p abcdefgh " + tiny());
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("the prompt has 10 tokens and the context 8"), std::string::npos)
      << outcome.err;
}

// The file with these keys added.
std::string recommending(const std::function<void(GgufWriter&)>& add) {
  return edit_model(read_file(tiny()), {.add = add});
}

TEST(SamplingOptions, ComeFromTheUserElseTheModelElseDefaults) {
  const app::SamplingOptions nothing;
  const std::string plain = recommending([](GgufWriter&) {});
  const SamplingParams defaults = app::resolve_sampling(nothing, open_in_memory(plain).metadata());
  EXPECT_EQ(defaults.temperature, 0.8f);
  EXPECT_EQ(defaults.top_k, 40);
  EXPECT_EQ(defaults.top_p, 0.95f);
  EXPECT_EQ(defaults.min_p, 0.05f);
  EXPECT_EQ(defaults.seed, std::nullopt);

  const std::string bytes = recommending([](GgufWriter& writer) {
    writer.add_f32("general.sampling.temp", 1.5f);
    writer.add_i32("general.sampling.top_k", -1);
    writer.add_u32("general.sampling.top_p", 1);  // written as a whole number
    writer.add_f32("general.sampling.min_p", 0.25f);
  });
  const GgufFile file = open_in_memory(bytes);
  const SamplingParams model = app::resolve_sampling(nothing, file.metadata());
  EXPECT_EQ(model.temperature, 1.5f);
  EXPECT_EQ(model.top_k, -1);
  EXPECT_EQ(model.top_p, 1.0f);
  EXPECT_EQ(model.min_p, 0.25f);

  const app::SamplingOptions asked = {
      .temperature = 0.0f, .top_p = 0.5f, .min_p = 0.0f, .top_k = 3};
  const SamplingParams user = app::resolve_sampling(asked, file.metadata());
  EXPECT_EQ(user.temperature, 0.0f);
  EXPECT_EQ(user.top_k, 3);
  EXPECT_EQ(user.top_p, 0.5f);
  EXPECT_EQ(user.min_p, 0.0f);
}

TEST(SamplingOptions, UnusableRecommendationsAreLeftOutWithAWarning) {
  const std::string bytes = recommending([](GgufWriter& writer) {
    writer.add_f32("general.sampling.temp", -3);
    writer.add_string("general.sampling.top_k", "many");
    writer.add_f32("general.sampling.top_p", std::numeric_limits<float>::quiet_NaN());
    writer.add_f32s("general.sampling.min_p", std::vector<float>{});
  });
  testing::internal::CaptureStderr();
  const SamplingParams params = app::resolve_sampling({}, open_in_memory(bytes).metadata());
  const std::string warnings = testing::internal::GetCapturedStderr();
  EXPECT_EQ(params.temperature, 0.8f);
  EXPECT_EQ(params.top_k, 40);
  EXPECT_EQ(params.top_p, 0.95f);
  EXPECT_EQ(params.min_p, 0.05f);
  for (const char* key : {"temp = -3", "top_k = many", "top_p = ", "min_p = "}) {
    EXPECT_NE(warnings.find(std::string("the model recommends general.sampling.") + key),
              std::string::npos)
        << key << "\n"
        << warnings;
  }
}

TEST(Run, SamplesAsTheModelRecommends) {
  const TempDir folder;
  const std::string greedy = folder
                                 .write("greedy.gguf", recommending([](GgufWriter& writer) {
                                          writer.add_f32("general.sampling.temp", 0);
                                        }))
                                 .string();
  const json expected = run_json("--temp 0 --ignore-eos -n 24 -p ab " + tiny());
  EXPECT_EQ(run_json("--ignore-eos -n 24 --seed 1 -p ab " + greedy)["tokens"], expected["tokens"]);
  EXPECT_NE(run_json("--ignore-eos -n 24 --seed 1 --temp 2 -p ab " + greedy)["tokens"],
            expected["tokens"]);
}

}  // namespace
}  // namespace arion::test
