// arion tokenize and detokenize, on the tiny vocabulary of this tree and real ones of the corpus.
#include "program.h"

namespace arion::test {
namespace {

std::string vocabulary(const std::string& name) {
  return (corpus_dir() / "data/tokenizers/ggml" / ("ggml-vocab-" + name + ".gguf")).string();
}

TEST(Tokenize, PrintsIdsOnOneLine) {
  // <s>, then the space that SentencePiece puts in front, then a = 4, b = 5.
  EXPECT_EQ(run_arion("tokenize --ids " + tiny(), "ab").out, "1 3 4 5\n");
  EXPECT_EQ(run_arion("tokenize " + tiny(), "ab").out, "1 3 4 5\n");
  EXPECT_EQ(run_arion("tokenize --ids --no-special " + tiny(), "ab").out, "3 4 5\n");
  EXPECT_EQ(run_arion("tokenize --ids --no-special " + tiny(), "").out, "\n");
}

TEST(Tokenize, PrintsATableOfIdsAndPieces) {
  const Outcome outcome = run_arion("tokenize --pieces " + tiny(), "b");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "       1  <s>\n       3   \n       5  b\n");
}

TEST(Tokenize, ControlTextIsPlainWithNoSpecial) {
  EXPECT_EQ(run_arion("tokenize --ids " + tiny(), "</s>").out.substr(0, 3), "1 2");
  const std::string plain = run_arion("tokenize --ids --no-special " + tiny(), "</s>").out;
  EXPECT_EQ((" " + plain).find(" 2 "), std::string::npos) << plain;
}

TEST(Tokenize, TextSurvivesTheRoundTripByteForByte) {
  const std::string text =
      "  Two words,\n\ttabs and \xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x8e\x89 123\n\n";
  for (const char* name : {"gpt-2", "llama-spm", "starcoder"}) {
    ARION_REQUIRE_CORPUS(vocabulary(name));
    const Outcome ids = run_arion("tokenize --ids " + vocabulary(name), text);
    ASSERT_EQ(ids.exit_code, 0) << ids.err;
    const Outcome back = run_arion("detokenize " + vocabulary(name), ids.out);
    EXPECT_EQ(back.out, text) << name;
    EXPECT_EQ(back.exit_code, 0) << back.err;
  }
}

TEST(Detokenize, AcceptsListsAndShowsControlTokensOnRequest) {
  EXPECT_EQ(run_arion("detokenize " + tiny(), "[1, 3, 4,5]\n").out, "ab");
  EXPECT_EQ(run_arion("detokenize --special " + tiny(), "1 4 2").out, "<s>a</s>");
  EXPECT_EQ(run_arion("detokenize " + tiny(), "").out, "");
}

TEST(Detokenize, NamesWhatIsNoId) {
  for (const char* wrong : {"4 x", "4 -1", "64", "99999999999999999999", "4.5"}) {
    const Outcome outcome = run_arion("detokenize " + tiny(), wrong);
    EXPECT_EQ(outcome.exit_code, 3) << wrong;
    EXPECT_NE(outcome.err.find("expected 0 to 63"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

}  // namespace
}  // namespace arion::test
