// Replays the corpus of the API's fuzzer, so that builds without libFuzzer run it too.
#include "fuzz/http_api.h"
#include "test_data.h"

namespace arion::test {
namespace {

TEST(HttpApiFuzz, EveryInputOfTheCorpusIsReadOrRefused) {
  int inputs = 0;
  for (const auto& item :
       std::filesystem::directory_iterator(source_dir() / "tests/fuzz/corpus/http_api")) {
    SCOPED_TRACE(item.path());
    const std::string body = read_file(item.path());
    EXPECT_NO_THROW(fuzz_http_api(body));
    for (size_t i = 0; i < body.size(); i += 3) {
      EXPECT_NO_THROW(fuzz_http_api(std::string_view(body).substr(0, i))) << "first " << i;
    }
    ++inputs;
  }
  EXPECT_GE(inputs, 5);
}

}  // namespace
}  // namespace arion::test
