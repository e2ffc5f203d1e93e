// Replays the corpus of the template fuzzer, so that builds without libFuzzer run it too.
#include <gtest/gtest.h>

#include "fuzz/jinja.h"
#include "test_data.h"

namespace arion {
namespace {

TEST(JinjaFuzz, EveryInputOfTheCorpusIsRenderedOrRefused) {
  int inputs = 0;
  for (const auto& item :
       std::filesystem::directory_iterator(test::source_dir() / "tests/fuzz/corpus/jinja")) {
    SCOPED_TRACE(item.path());
    const std::string source = test::read_file(item.path());
    EXPECT_NO_THROW(test::fuzz_jinja(source));
    for (size_t i = 0; i < source.size(); i += 3) {
      EXPECT_NO_THROW(test::fuzz_jinja(std::string_view(source).substr(0, i))) << "first " << i;
    }
    ++inputs;
  }
  EXPECT_GE(inputs, 8);
}

}  // namespace
}  // namespace arion
