// Replays the corpus of the GGUF fuzzer, so that builds without libFuzzer run it too.
#include <gtest/gtest.h>

#include "fuzz/gguf.h"
#include "test_data.h"

namespace arion {
namespace {

std::filesystem::directory_iterator corpus() {
  return std::filesystem::directory_iterator(test::source_dir() / "tests/fuzz/corpus/gguf");
}

TEST(GgufFuzz, EveryInputOfTheCorpusIsReadOrRefused) {
  int inputs = 0;
  for (const auto& item : corpus()) {
    SCOPED_TRACE(item.path());
    const std::string input = test::read_file(item.path());
    EXPECT_NO_THROW(test::fuzz_gguf(std::as_bytes(std::span(input))));
    ++inputs;
  }
  EXPECT_GE(inputs, 6);
}

TEST(GgufFuzz, EveryPrefixAndEverySingleByteChangeOfTheCorpusIsParsedOrRefused) {
  const auto parse = [](std::string_view input) {
    test::try_get([&] { GgufFile::parse(std::as_bytes(std::span(input))); });
  };
  for (const auto& item : corpus()) {
    SCOPED_TRACE(item.path());
    std::string input = test::read_file(item.path());
    for (size_t i = 0; i < input.size(); ++i) {
      const char kept = input[i];
      for (const char replacement : {'\0', '\x01', '\x7f', '\xff'}) {
        input[i] = replacement;
        EXPECT_NO_THROW(parse(input)) << "byte " << i;
      }
      input[i] = kept;
      EXPECT_NO_THROW(parse(std::string_view(input).substr(0, i))) << "first " << i;
    }
  }
}

}  // namespace
}  // namespace arion
