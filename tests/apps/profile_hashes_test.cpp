// One hash of all logits per model and numerics profile, the same on every instruction set: what
// the contract of the numerics promises, pinned down. tests/golden/make_profile_hashes.py renews
// the file when the arithmetic is changed on purpose.
#include <nlohmann/json.hpp>

#include "cpu/cpu_kernels.h"
#include "program.h"

namespace arion::test {
namespace {

using nlohmann::json;

json golden() {
  return json::parse(read_file(source_dir() / "tests/golden/profile_hashes.json"));
}

std::string joined(const std::vector<int>& tokens) {
  std::string list;
  for (const int token : tokens) list += std::to_string(token) + ",";
  return list;
}

void expect_hashes(const std::filesystem::path& model, const json& expected,
                   const std::vector<int>& tokens) {
  ASSERT_FALSE(expected.empty());
  for (const auto& [options, hash] : expected.items()) {
    for (const IsaLevel level : supported_isa_levels()) {
      const std::string isa(isa_name(level));
      const Outcome outcome = run_arion("eval logits --hash " + options + " --isa " + isa +
                                        " --tokens " + joined(tokens) + " " + model.string());
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
      EXPECT_EQ(outcome.out, hash.get<std::string>() + "\n") << options << " on " << isa;
    }
  }
}

TEST(ProfileHashes, OfTheTinyModelsAreTheSameOnEveryLevel) {
  for (const char* name : {"llama", "qwen2", "qwen3", "gemma3"}) {
    SCOPED_TRACE(name);
    const auto folder = source_dir() / "tests/golden/model";
    const json model = json::parse(read_file(folder / (std::string(name) + ".json")));
    expect_hashes(folder / (std::string(name) + ".gguf"), golden()["hashes"][name],
                  model["tokens"]);
  }
}

TEST(ProfileHashes, OfARealModelAreTheSameOnEveryLevel) {
  const auto folder = corpus_dir() / "data/models";
  ARION_REQUIRE_CORPUS(folder / "stories260K.gguf");
  ARION_REQUIRE_CORPUS(folder / "stories260K.greedy.json");
  const json story = json::parse(read_file(folder / "stories260K.greedy.json"));
  expect_hashes(folder / "stories260K.gguf", golden()["hashes"]["stories260K"],
                story["bos_greedy_ids"]);
}

}  // namespace
}  // namespace arion::test
