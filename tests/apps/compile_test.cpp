// arion compile as a program: what it says, what the next start uses, and what is refused.
#include <gtest/gtest.h>

#include <string>

#include "program.h"

namespace arion::test {
namespace {

namespace fs = std::filesystem;

class CompileCommand : public testing::Test {
 protected:
  Outcome arion(const std::string& arguments) const {
    return run_arion(arguments, "", "ARION_COMPILED_DIR=" + (folder_.path() / "compiled").string());
  }
  Outcome answer(const std::string& more) const {
    return arion("run " + model_ + " --raw -p x -n 4 --temp 0 --log-level debug " + more);
  }

  const TempDir folder_;
  const std::string model_ = folder_.write("model.gguf", read_file(tiny())).string();
};

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST_F(CompileCommand, TheNextStartMapsWhatItWroteAndAnswersTheSame) {
  const Outcome packed = answer("");
  EXPECT_TRUE(has(packed.err, "weights packed")) << packed.err;
  const Outcome compiled = arion("compile " + model_);
  EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
  EXPECT_TRUE(has(compiled.out, (folder_.path() / "compiled/model-").string())) << compiled.out;
  const Outcome mapped = answer("");
  EXPECT_TRUE(has(mapped.err, "weights mapped from")) << mapped.err;
  EXPECT_EQ(mapped.out, packed.out);
  EXPECT_TRUE(has(answer("--compiled off").err, "weights packed"));
  EXPECT_TRUE(has(arion("compile " + model_).out, "compiled already"));
  EXPECT_FALSE(has(arion("compile " + model_ + " --force").out, "compiled already"));
  EXPECT_TRUE(has(arion("compile " + model_ + " --verify").out, "verified"));
}

TEST_F(CompileCommand, AFileElsewhereIsUsedWhenItIsNamed) {
  const std::string out = (folder_.path() / "x.panels").string();
  EXPECT_EQ(arion("compile " + model_ + " -o " + out).exit_code, 0);
  EXPECT_TRUE(has(answer("").err, "weights packed"));
  EXPECT_TRUE(has(answer("--compiled " + out).err, "weights mapped from " + out));
  EXPECT_EQ(answer("--compiled " + model_).exit_code, 3);
  EXPECT_EQ(answer("--compiled /no/such/file").exit_code, 2);
}

TEST_F(CompileCommand, AStaleOneIsSaidNotToBeUsed) {
  arion("compile " + model_);
  folder_.write("model.gguf", read_file(tiny("qwen3")));
  const Outcome outcome = answer("");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(has(outcome.err, "the compiled model is not used: ")) << outcome.err;
  EXPECT_TRUE(has(arion("compile --list").out, "(unused: the model was modified)"));
  EXPECT_EQ(arion("compile " + model_ + " --verify").exit_code, 3);
}

TEST_F(CompileCommand, ListsAndRemoves) {
  EXPECT_EQ(arion("compile --list").out, "");
  arion("compile " + model_);
  EXPECT_TRUE(has(arion("compile --list").out, " of " + model_ + "\n"));
  EXPECT_TRUE(has(arion("compile " + model_ + " --remove").out, ": removed"));
  EXPECT_TRUE(has(arion("compile " + model_ + " --remove").out, "there was no such file"));
  EXPECT_EQ(arion("compile --list").out, "");
}

TEST_F(CompileCommand, ExplainAndInspectNameTheFile) {
  EXPECT_TRUE(has(arion("explain " + model_ + " --bandwidth 1 --peak 1").out,
                  "weights packed when loaded"));
  arion("compile " + model_);
  const std::string path = (folder_.path() / "compiled/model-").string();
  for (const char* command : {"explain --bandwidth 1 --peak 1 ", "inspect "}) {
    const Outcome text = arion(command + model_), json = arion(command + model_ + " --json");
    EXPECT_TRUE(has(text.out, "weights mapped from " + path)) << text.out;
    const auto compiled = nlohmann::json::parse(json.out)["compiled"];
    EXPECT_TRUE(compiled["path"].get<std::string>().starts_with(path));
    EXPECT_GT(compiled["bytes"], 1 << 20);
  }
  const Outcome off = arion("explain --bandwidth 1 --peak 1 --json --compiled off " + model_);
  EXPECT_TRUE(nlohmann::json::parse(off.out)["compiled"].is_null());
}

TEST_F(CompileCommand, RefusesToWriteOverTheModelAndWhatCannotBeCompiled) {
  EXPECT_EQ(arion("compile " + model_ + " -o " + model_).exit_code, 2);
  EXPECT_EQ(read_file(model_), read_file(tiny()));
  EXPECT_EQ(arion("compile /no/such/model.gguf").exit_code, 2);
  EXPECT_EQ(arion("compile " + model_ + " -o /no/such/folder/x").exit_code, 2);
  EXPECT_EQ(arion("compile " + model_ + " --list --remove").exit_code, 2);
}

}  // namespace
}  // namespace arion::test
