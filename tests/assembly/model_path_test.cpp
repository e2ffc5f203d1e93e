// Which file a MODEL argument finds, and what is said when there is none.
#include "assembly/model_path.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "temp_dir.h"

namespace arion::test {
namespace {

std::string message_of(std::string_view argument, const std::filesystem::path& cache) {
  try {
    return resolve_model(argument, cache).string();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
}

TEST(ModelPath, AnExistingFileOrAPathIsTakenAsItIs) {
  const TempDir folder;
  const auto file = folder.write("a.gguf", "");
  EXPECT_EQ(resolve_model(file.string(), folder.path() / "none"), file);
  EXPECT_EQ(resolve_model("no/such/file.gguf", folder.path()), "no/such/file.gguf");
}

TEST(ModelPath, FetchedModelsAreFoundByNameAndByUniqueBeginning) {
  const TempDir folder;
  const auto smol = folder.write("SmolLM2-135M.Q4_1.gguf", "");
  const auto gemma = folder.write("gemma-3-270m.gguf", "");
  folder.write("gemma-3-1b.gguf", "");
  EXPECT_EQ(resolve_model("smollm2", folder.path()), smol);
  EXPECT_EQ(resolve_model("SmolLM2-135M.Q4_1.gguf", folder.path()), smol);
  EXPECT_EQ(resolve_model("gemma-3-270m", folder.path()), gemma);
  EXPECT_EQ(message_of("gemma", folder.path()),
            "model 'gemma' may be any of: gemma-3-1b, gemma-3-270m");
  EXPECT_NE(message_of("llama", folder.path()).find("SmolLM2-135M.Q4_1"), std::string::npos);
}

TEST(ModelPath, AnExactNameWinsOverLongerOnes) {
  const TempDir folder;
  const auto exact = folder.write("m.gguf", "");
  folder.write("m2.gguf", "");
  EXPECT_EQ(resolve_model("m", folder.path()), exact);
}

TEST(ModelPath, WithoutANameTheDefaultOrTheOnlyModelIsTaken) {
  const TempDir folder;
  EXPECT_NE(message_of("", folder.path()).find("scripts/quickstart.sh"), std::string::npos);
  const auto one = folder.write("one.gguf", "");
  EXPECT_EQ(resolve_model("", folder.path()), one);
  folder.write("two.gguf", "");
  EXPECT_NE(message_of("", folder.path()).find("no default"), std::string::npos);
  std::filesystem::create_symlink("two.gguf", folder.path() / "default.gguf");
  for (const char* name : {"", "default", "default.gguf", "Default"}) {
    EXPECT_EQ(resolve_model(name, folder.path()), folder.path() / "default.gguf") << name;
  }
}

TEST(ModelPath, ACacheThatCannotBeReadIsLikeAnEmptyOne) {
  const TempDir folder;
  const auto file = folder.write("file", "");
  EXPECT_NE(message_of("", file).find("no default"), std::string::npos);
  EXPECT_NE(message_of("", file / "models").find("no default"), std::string::npos);
  EXPECT_NE(message_of("x", std::string(5000, 'n')).find("none"), std::string::npos);
  EXPECT_NE(message_of("", std::string(5000, 'n')).find("no default"), std::string::npos);
}

TEST(ModelPath, AMissingCacheIsNoFailureOfItsOwn) {
  EXPECT_NE(message_of("x", "").find("none"), std::string::npos);
  EXPECT_NE(message_of("", "").find("HOME"), std::string::npos);
}

}  // namespace
}  // namespace arion::test
