// arion quantize: what it says is what it wrote.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "io/gguf.h"
#include "program.h"

namespace arion::test {
namespace {

TEST(QuantizeCommand, TheSummarySaysWhatWasWritten) {
  const TemporaryFolder folder;
  const std::string in = (source_dir() / "tests/golden/model/llama.gguf").string();
  const std::string out = (folder.path() / "q.gguf").string();
  const std::string command = "quantize " + in + " " + out + " --type Q4_K_M";
  const Outcome dry = run_arion(command + " --dry-run");
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_FALSE(std::filesystem::exists(out));
  const Outcome outcome = run_arion(command);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  uint64_t bytes = 0, values = 0;
  const GgufFile file = GgufFile::open(out);
  for (const GgufTensor& tensor : file.tensors()) {
    bytes += tensor.data.size();
    values += tensor.values();
  }
  const double bits = 8.0 * static_cast<double>(bytes) / static_cast<double>(values);
  const std::string summary = fmt::format("{:.4f} bits per weight, ", bits);
  EXPECT_NE(outcome.out.find(summary), std::string::npos) << outcome.out;
  EXPECT_NE(dry.out.find(summary), std::string::npos) << dry.out;
  EXPECT_EQ(outcome.out.find(" 0 fallbacks"), std::string::npos) << "rows have 64 columns";
  EXPECT_EQ(run_arion(command + " --no-fallback").exit_code, 1);
}

}  // namespace
}  // namespace arion::test
