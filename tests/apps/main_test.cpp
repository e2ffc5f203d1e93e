// The program's frame: options, exit codes, and what goes to which stream.
#include "program.h"

namespace arion::test {
namespace {

TEST(Program, WithoutACommandIsAUsageError) {
  const Outcome outcome = run_arion("");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("arion: error: ")) << outcome.err;
}

TEST(Program, NamesAnUnknownCommandAndAnUnknownOption) {
  const Outcome command = run_arion("dance");
  EXPECT_EQ(command.exit_code, 2);
  EXPECT_NE(command.err.find("'dance'"), std::string::npos) << command.err;
  const Outcome option = run_arion("inspect --dance");
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_NE(option.err.find("--dance"), std::string::npos) << option.err;
  EXPECT_NE(option.err.find("arion inspect --help"), std::string::npos) << option.err;
}

TEST(Program, UsageErrorsNameTheInnermostCommand) {
  const Outcome option = run_arion("eval kl x --reference y --file z --dance");
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_NE(option.err.find("see arion eval kl --help"), std::string::npos) << option.err;
  const Outcome command = run_arion("eval dance");
  EXPECT_EQ(command.exit_code, 2);
  EXPECT_NE(command.err.find("unknown command 'dance'; see arion eval --help"), std::string::npos)
      << command.err;
}

TEST(Program, EveryExitCodeIsUsed) {
  const std::string model = (source_dir() / "tests/golden/model/llama.gguf").string();
  const TempDir folder;
  const std::string broken = folder.write("x.gguf", "GGUF").string();
  EXPECT_EQ(run_arion("run --raw -n 1 -p a " + model).exit_code, 0);
  const std::string long_name(300, 'x');
  EXPECT_EQ(run_arion("eval logits --tokens 1 --out " + long_name + " " + model).exit_code, 1);
  EXPECT_EQ(run_arion("run --act int4 -p a " + model).exit_code, 2);
  EXPECT_EQ(run_arion("run -p a " + broken).exit_code, 3);
}

TEST(Program, HelpGoesToStandardOutputAndHasExamples) {
  for (const std::string command : {"", "inspect "}) {
    const Outcome outcome = run_arion(command + "--help");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_NE(outcome.out.find("Examples:"), std::string::npos) << outcome.out;
  }
  EXPECT_TRUE(run_arion("--version").out.starts_with("arion "));
}

TEST(Program, GlobalOptionsMayFollowTheCommand) {
  const Outcome outcome = run_arion("inspect x --log-level loud");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("error, warning, info, debug"), std::string::npos) << outcome.err;
}

TEST(Program, NumbersThatAreNoneAreUsageErrors) {
  for (const char* wrong : {"serve x --max-num-seqs 0", "serve x --max-decode-slowdown nan",
                            "serve x --target-step-ms nan", "serve x --drain-seconds nan",
                            "batch in out --max-num-seqs 1025", "batch in out --max-num-seqs ''"}) {
    const Outcome outcome = run_arion(wrong);
    EXPECT_EQ(outcome.exit_code, 2) << wrong;
    EXPECT_NE(outcome.err.find("number from"), std::string::npos) << outcome.err;
  }
}

TEST(Program, EmptyNamesOfInputsAreRefused) {
  for (const std::string arguments :
       {"quantize '' out --type Q8_0", "quantize in out --type Q8_0 --imatrix ''",
        "imatrix model --file '' -o out", "imatrix --merge '' -o out", "eval ppl model --file ''",
        "eval kl model --reference '' --file text", "render --template '' --messages x",
        "render model --messages ''", "batch '' out", "batch in out -m ''",
        "serve model --api-key-file ''", "run model -f ''"}) {
    const Outcome outcome = run_arion(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_NE(outcome.err.find(": is empty"), std::string::npos) << arguments << outcome.err;
  }
}

TEST(Program, AFullDiskIsAFailure) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const std::string command = std::string(ARION_PROGRAM) + " --help >/dev/full 2>/dev/null";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(Program, ControlCharactersOfArgumentsDoNotReachTheTerminal) {
  const Outcome outcome = run_arion("inspect \"$(printf 'a\\033[2Jb')\"");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace arion::test
