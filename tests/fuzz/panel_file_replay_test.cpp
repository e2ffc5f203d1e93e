// Replays the corpus of the fuzzer of compiled models, so that builds without libFuzzer run it too.
#include <gtest/gtest.h>

#include "fuzz/panel_file.h"
#include "test_data.h"

namespace arion {
namespace {

std::filesystem::directory_iterator panel_file_corpus() {
  return std::filesystem::directory_iterator(test::source_dir() / "tests/fuzz/corpus/panel_file");
}

std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
  const std::string text = test::read_file(path);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(PanelFileFuzz, EveryInputOfTheCorpusIsReadOrRefused) {
  int inputs = 0;
  for (const auto& item : panel_file_corpus()) {
    SCOPED_TRACE(item.path());
    EXPECT_NO_THROW(test::fuzz_panel_file(bytes_of(item.path())));
    ++inputs;
  }
  EXPECT_GE(inputs, 7);
}

TEST(PanelFileFuzz, EveryPrefixAndEverySingleByteChangeOfTheCorpusIsParsedOrRefused) {
  for (const auto& item : panel_file_corpus()) {
    SCOPED_TRACE(item.path());
    std::vector<std::byte> input = bytes_of(item.path());
    for (size_t i = 0; i < input.size(); ++i) {
      const std::byte kept = input[i];
      for (const int replacement : {0x00, 0x01, 0x7f, 0xff}) {
        input[i] = static_cast<std::byte>(replacement);
        EXPECT_NO_THROW(test::fuzz_panel_file(input)) << "byte " << i;
      }
      input[i] = kept;
      EXPECT_NO_THROW(test::fuzz_panel_file(std::span(input).first(i))) << "first " << i;
    }
  }
}

TEST(PanelFileFuzz, SeedsSayWhatTheyAreNamedAfter) {
  const auto accepts = [](const char* name) {
    std::vector<std::byte> input =
        bytes_of(test::source_dir() / "tests/fuzz/corpus/panel_file" / name);
    test::repair_table_hash(input);
    try {
      parse_panel_file(input, name);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  for (const char* name : {"empty", "gain", "model", "split"}) EXPECT_TRUE(accepts(name)) << name;
  for (const char* name : {"overlap", "layout", "outside"}) EXPECT_FALSE(accepts(name)) << name;
}

}  // namespace
}  // namespace arion
