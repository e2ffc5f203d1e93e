// What commands write: never over what they read, whole or not at all, and known to be possible
// before they work.
#include <fmt/format.h>
#include <sys/stat.h>

#include <csignal>

#include "model/edit_model.h"
#include "program.h"
#include "pty_program.h"

namespace arion::test {
namespace {

namespace fs = std::filesystem;

class Output : public testing::Test {
 protected:
  void SetUp() override {
    fs::copy_file(tiny(), path("model.gguf"));
    folder_.write("text", letters(200));
  }

  static std::string letters(int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>('a' + i * 7 % 26);
    return text;
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  // In the folder.
  Outcome run(const std::string& arguments, const std::string& limit = ":") const {
    return run_arion(
        arguments, "",
        "sh -c 'cd \"$0\" && " + limit + " && exec \"$@\"' " + folder_.path().string());
  }
  void expect_refused(const std::string& arguments, const std::string& words, int code = 2) const {
    const std::map<std::string, std::string> before = contents();
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, code) << arguments;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << arguments << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_TRUE(contents() == before) << arguments;
  }
  // Of all files by name; that of a pipe is its kind.
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      out[entry.path().string()] = entry.is_regular_file() ? read_file(entry.path())
                                   : entry.is_fifo()       ? "pipe"
                                                           : "folder";
    }
    return out;
  }

  const TempDir folder_;
};

TEST_F(Output, IsNeverAnInput) {
  const fs::path hf = source_dir() / "tests/golden/model/hf/llama";
  fs::copy(hf, path("hf"), fs::copy_options::recursive);
  folder_.write("ids", "1,2,3");
  fs::create_symlink("model.gguf", path("symbolic"));
  fs::create_hard_link(path("model.gguf"), path("hard"));
  ASSERT_EQ(run("imatrix model.gguf --ctx 32 --file text -o model.imatrix").exit_code, 0);
  ASSERT_EQ(run("quantize model.gguf x.gguf --type F32 --split-max-size 40K").exit_code, 0);
  ASSERT_TRUE(fs::exists(path("x-00003-of-00007.gguf")));
  const std::string first = "x-00001-of-00007.gguf";
  for (const std::string& arguments :
       {std::string("quantize model.gguf model.gguf --type Q8_0"),
        std::string("quantize model.gguf symbolic --type Q8_0"),
        std::string("quantize model.gguf hard --type Q8_0"),
        std::string("quantize model.gguf ./hf/../model.gguf --type Q8_0"),
        std::string("quantize model.gguf model.imatrix --type Q8_0 --imatrix model.imatrix"),
        "quantize " + first + " x.gguf --type F32 --split-max-size 40K",
        "quantize " + first + " x --type F32 --split-max-size 40K --dry-run",
        std::string("quantize hf hf/config.json --type F32"),
        std::string("quantize hf hf/model-00002-of-00004.safetensors --type F32"),
        std::string("imatrix model.gguf --file text -o model.gguf"),
        std::string("imatrix model.gguf --file text -o text"),
        std::string("imatrix --merge model.imatrix -o model.imatrix"),
        "imatrix " + first + " --file text -o x-00002-of-00007.gguf",
        std::string("eval logits hf --tokens 1 --out hf/generation_config.json"),
        std::string("eval logits model.gguf --tokens @ids --out ids")}) {
    expect_refused(arguments, "is read; give another name");
  }
  // Once the name of a file in the making.
  fs::rename(path("model.gguf"), path("out.partial"));
  EXPECT_EQ(run("quantize out.partial out --type Q8_0").exit_code, 0);
  EXPECT_EQ(read_file(path("out.partial")), read_file(tiny()));
}

TEST_F(Output, IsARegularFileInAFolderThatExists) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_directory(path("folder"));
  for (const std::string command :
       {"quantize model.gguf --type Q8_0 ", "imatrix model.gguf --file text -o ",
        "imatrix --merge absent -o ", "eval logits model.gguf --tokens 1 --out "}) {
    expect_refused(command + "pipe", "'pipe' is a pipe");
    expect_refused(command + "folder", "'folder' is a folder");
    expect_refused(command + "\"\"", "'' names no file");
    expect_refused(command + ".", "'.' names no file");
    expect_refused(command + "absent/x", "no folder 'absent'");
  }
  expect_refused("quantize model.gguf folder/x-00001-of-00002.gguf --type Q8_0",
                 "is named as file 1 of a model split into 2");
}

TEST_F(Output, IsWrittenThroughSymbolicLinks) {
  fs::create_directory(path("folder"));
  folder_.write("folder/file", "");
  fs::create_symlink("folder/file", path("link"));
  ASSERT_EQ(run("quantize model.gguf link --type Q8_0").exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(run("inspect folder/file").exit_code, 0);
}

TEST_F(Output, BeyondTheLimitOfFileSizesIsAnError) {
  folder_.write("q.gguf", "old");
  const auto before = contents();
  const Outcome outcome = run("quantize model.gguf q.gguf --type Q8_0", "ulimit -f 8");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("cannot write 'q.gguf'"), std::string::npos) << outcome.err;
  EXPECT_TRUE(contents() == before);
}

TEST_F(Output, SignalsLeaveEverythingAsItWas) {
  // Seconds of work.
  GgufWriter writer;
  writer.add_string("general.architecture", "large");
  for (int i = 0; i < 64; ++i) {
    writer.add_tensor(fmt::format("blk.{}.ffn_up.weight", i), std::vector<uint64_t>{256, 256}, 0,
                      std::vector<std::byte>(256 * 256 * 4, std::byte{0x3d}));
  }
  folder_.write("large.gguf", writer.bytes());
  folder_.write("long", letters(400'000));
  folder_.write("out", "old");
  const auto before = contents();
  const std::vector<std::string> quantize = {
      "quantize", path("large.gguf"), path("out"), "--type", "IQ3_S", "-t", "1"};
  const std::vector<std::string> collect = {
      "imatrix", path("model.gguf"), "--ctx",        "32",      "--file", path("long"),
      "-o",      path("out"),        "--save-every", "1000000", "-t",     "1"};
  for (const auto& [arguments, label] :
       {std::pair(quantize, "Quantizing ["), std::pair(collect, "collecting [")}) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
      PtyProgram program(arguments, {"TERM=xterm"});
      program.read_until(label);
      ASSERT_EQ(kill(program.pid(), number), 0);
      EXPECT_EQ(program.wait_for_end(), number == SIGKILL ? -1 : 128 + number)
          << arguments[0] << program.rest();
      EXPECT_TRUE(contents() == before) << arguments[0] << number;
    }
  }
}

}  // namespace
}  // namespace arion::test
