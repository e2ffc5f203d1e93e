// Replays the corpora of the tokenizer fuzzers, so that builds without libFuzzer run them too.
#include <gtest/gtest.h>

#include "fuzz/detokenizer.h"
#include "fuzz/sentencepiece_model.h"
#include "fuzz/tokenizer_json.h"
#include "test_data.h"

namespace arion {
namespace {

using Fuzz = void (*)(std::string_view);

int replay(const char* corpus, Fuzz fuzz) {
  int inputs = 0;
  for (const auto& item :
       std::filesystem::directory_iterator(test::source_dir() / "tests/fuzz/corpus" / corpus)) {
    SCOPED_TRACE(item.path());
    EXPECT_NO_THROW(fuzz(test::read_file(item.path())));
    ++inputs;
  }
  return inputs;
}

TEST(TokenizerFuzz, EveryTokenizerJsonOfTheCorpusIsReadOrRefused) {
  EXPECT_GE(replay("tokenizer_json", test::fuzz_tokenizer_json), 30);
}

TEST(TokenizerFuzz, EverySentencePieceModelOfTheCorpusIsReadOrRefused) {
  EXPECT_GE(replay("sentencepiece_model", test::fuzz_sentencepiece_model), 4);
}

TEST(TokenizerFuzz, EveryTextOfTheDetokenizersCorpusIsStreamedExactly) {
  EXPECT_GE(replay("detokenizer", test::fuzz_detokenizer), 5);
}

TEST(TokenizerFuzz, EveryPrefixOfASentencePieceModelIsReadOrRefused) {
  const std::string model =
      test::read_file(test::source_dir() / "tests/fuzz/corpus/sentencepiece_model/unigram");
  for (size_t size = 0; size < model.size(); size += 3) {
    EXPECT_NO_THROW(test::fuzz_sentencepiece_model(std::string_view(model).substr(0, size)));
  }
}

}  // namespace
}  // namespace arion
