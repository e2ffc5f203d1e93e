// Real files: every GGUF of the corpus opens, vocabularies without weights too.
#include <gtest/gtest.h>

#include "io/gguf.h"
#include "test_data.h"

namespace arion {
namespace {

TEST(GgufCorpus, EveryFileOpensAndNamesItsArchitecture) {
  const auto folder = test::corpus_dir() / "data";
  ARION_REQUIRE_CORPUS(folder);
  int opened = 0;
  for (const auto& item : std::filesystem::recursive_directory_iterator(folder)) {
    if (item.path().extension() != ".gguf") continue;
    SCOPED_TRACE(item.path());
    const GgufFile file = GgufFile::open(item.path());
    EXPECT_FALSE(file.metadata().require_string("general.architecture").empty());
    const auto tokens = file.metadata().get_strings("tokenizer.ggml.tokens");
    ASSERT_TRUE(tokens.has_value());
    EXPECT_EQ(tokens->size(), file.metadata().find("tokenizer.ggml.tokens")->count);
    ++opened;
  }
  EXPECT_GE(opened, 13);
}

TEST(GgufCorpus, TheSmallestModelHasItsTensorsInPlace) {
  const auto path = test::corpus_dir() / "data/models/stories260K.gguf";
  ARION_REQUIRE_CORPUS(path);
  const GgufFile file = GgufFile::open(path);
  EXPECT_EQ(file.tensors().size(), 48u);
  const GgufTensor& embedding = file.require_tensor("token_embd.weight");
  EXPECT_EQ(describe_dims(embedding.dims()), "[64, 512]");
  EXPECT_EQ(embedding.data.size(), 64u * 512u * 4u);
}

}  // namespace
}  // namespace arion
