// Failures reported publicly against other loaders, replayed on the tiny model: truncation,
// duplicate vocabulary entries, hyper-parameters of the wrong kind, split sets that do not match.
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/gguf.h"
#include "io/tiny_gguf.h"
#include "temp_dir.h"

namespace arion {
namespace {

using test::TinyTensor;

std::string refusal_of_prefix(std::string_view bytes) {
  try {
    GgufFile::parse(std::as_bytes(std::span(bytes)));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(GgufCases, EveryProperPrefixOfAModelIsRefused) {
  const std::string good = test::tiny_gguf(test::tiny_stop_model());
  const size_t header = good.find("output.weight") + 100;
  for (size_t size = 0; size < header; ++size) {
    ASSERT_FALSE(refusal_of_prefix(std::string_view(good).substr(0, size)).empty()) << size;
  }
  for (const size_t size : {good.size() / 2, good.size() - 4'096, good.size() - 1}) {
    EXPECT_FALSE(refusal_of_prefix(std::string_view(good).substr(0, size)).empty()) << size;
  }
  EXPECT_EQ(refusal_of_prefix(good), "");
}

TEST(GgufCases, AVocabularyWithDuplicateTokensOpens) {
  test::TinyModel model = test::tiny_stop_model();
  model.vocabulary.tokens[310] = model.vocabulary.tokens[300];
  model.vocabulary.tokens[311] = model.vocabulary.tokens[65];
  const std::string bytes = test::tiny_gguf(model);
  const GgufFile file = GgufFile::parse(std::as_bytes(std::span(bytes)));
  const auto tokens = file.metadata().require_strings("tokenizer.ggml.tokens");
  EXPECT_EQ(tokens[310], tokens[300]);
  EXPECT_EQ(tokens[311], "A");
}

TEST(GgufCases, HyperParametersOfTheWrongKindAreRefusedByTheGetterNamingTheKey) {
  const std::string key = "llama.block_count";
  const auto text = test::string_entry(key, "1");
  const test::TinyEntry list = {
      key, [](GgufWriter& w, std::string_view k) { w.add_u32s(k, std::vector<uint32_t>{1}); }};
  for (const test::TinyEntry& entry : {text, list, test::f32_entry(key, 1.0f)}) {
    const auto entries = test::with_changed(test::tiny_entries(test::TinyModel()), entry);
    const std::string bytes = test::tiny_gguf(entries, {});
    const GgufFile file = GgufFile::parse(std::as_bytes(std::span(bytes)));
    try {
      file.metadata().require_unsigned(key);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(key), std::string::npos) << error.what();
    }
  }
}

// How one file of a split set may differ from what the set says.
struct SplitChange {
  std::optional<uint16_t> number, count;
  std::optional<int32_t> total;
};

// Three files: metadata, five tensors, the rest. `change` applies to the third.
class GgufSplit : public testing::Test {
 protected:
  std::filesystem::path file(int number) const {
    return dir_.path() / ("m-0000" + std::to_string(number) + "-of-00003.gguf");
  }

  void write(int number, size_t first, size_t last, const SplitChange& change = {}) const {
    auto entries = number == 1 ? test::tiny_entries(model_) : std::vector<test::TinyEntry>{};
    const uint16_t no = change.number.value_or(number - 1);
    const uint16_t count = change.count.value_or(3);
    const int32_t total = change.total.value_or(12);
    entries.push_back({"split.no", [=](GgufWriter& w, std::string_view k) { w.add_u16(k, no); }});
    entries.push_back(
        {"split.count", [=](GgufWriter& w, std::string_view k) { w.add_u16(k, count); }});
    entries.push_back(
        {"split.tensors.count", [=](GgufWriter& w, std::string_view k) { w.add_i32(k, total); }});
    const std::vector<TinyTensor> part(tensors_.begin() + first, tensors_.begin() + last);
    test::tiny_writer(entries, part).write(file(number));
  }

  void write_set(const SplitChange& change = {}) const {
    write(1, 0, 0);
    write(2, 0, 5);
    write(3, 5, 12, change);
  }

  std::string refusal(int number = 1) const {
    try {
      GgufFile::open(file(number));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      return error.what();
    }
    return "";
  }

  test::TempDir dir_;
  test::TinyModel model_ = test::tiny_stop_model();
  std::vector<TinyTensor> tensors_ = test::tiny_tensors(model_);
};

TEST_F(GgufSplit, AMatchingSetOpensAsOneModel) {
  write_set();
  const GgufFile file = GgufFile::open(this->file(1));
  ASSERT_EQ(file.tensors().size(), tensors_.size());
  EXPECT_EQ(file.file_names().size(), 3u);
  EXPECT_EQ(file.metadata().require_string("general.architecture"), "llama");
  for (const TinyTensor& expected : tensors_) {
    const GgufTensor& tensor = file.require_tensor(expected.name);
    EXPECT_TRUE(std::ranges::equal(tensor.data, expected.data)) << expected.name;
    file.drop(tensor);
    file.prefetch(tensor);
    EXPECT_TRUE(std::ranges::equal(tensor.data, expected.data)) << expected.name;
  }
}

TEST_F(GgufSplit, AnotherFileThanTheFirstIsRefusedNamingTheFirst) {
  write_set();
  EXPECT_NE(refusal(2).find("open the first one, m-00001-of-00003.gguf"), std::string::npos);
}

TEST_F(GgufSplit, AMissingFileIsNamed) {
  for (const int missing : {2, 3}) {
    write_set();
    std::filesystem::remove(file(missing));
    EXPECT_EQ(refusal().find(file(missing).string() + ": missing"), 0u) << refusal();
  }
}

TEST_F(GgufSplit, AFileThatContradictsTheSetIsNamed) {
  const std::string third = file(3).string();
  write_set({.number = 0, .count = {}, .total = {}});
  EXPECT_EQ(refusal(),
            third + ": split.no is 0, expected 2; the file is from another model or set");
  write_set({.number = {}, .count = 4, .total = {}});
  EXPECT_EQ(refusal().find(third + ": split.count is 4, expected 3"), 0u) << refusal();
  write_set({.number = {}, .count = {}, .total = 99});
  EXPECT_EQ(refusal().find(third + ": split.tensors.count is 99, expected 12"), 0u) << refusal();
}

TEST_F(GgufSplit, ATensorInTwoFilesIsNamedWithBoth) {
  write_set();
  write(3, 4, 12);
  EXPECT_NE(refusal().find("occurs twice, also in"), std::string::npos) << refusal();
  EXPECT_NE(refusal().find(tensors_[4].name), std::string::npos) << refusal();
}

TEST_F(GgufSplit, AMissingTensorIsFoundByTheTotal) {
  write_set();
  write(3, 6, 12);
  EXPECT_NE(refusal().find("hold 11 tensors, split.tensors.count says 12"), std::string::npos);
}

TEST_F(GgufSplit, AFileOfAnotherKindInTheSetIsRefused) {
  write_set();
  dir_.write(file(2).filename().string(), "not a model at all");
  EXPECT_EQ(refusal().find(file(2).string() + ": not a GGUF file"), 0u) << refusal();
  test::tiny_writer({}, {}).write(file(2));
  EXPECT_EQ(refusal().find(file(2).string() + ": has no split.no"), 0u) << refusal();
}

TEST_F(GgufSplit, ARenamedFirstFileIsRefusedWithTheNameItNeeds) {
  write_set();
  std::filesystem::rename(file(1), dir_.path() / "model.gguf");
  try {
    GgufFile::open(dir_.path() / "model.gguf");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("must end in -00001-of-00003.gguf"),
              std::string::npos);
  }
}

TEST_F(GgufSplit, ANameOfASetWithoutSplitKeysIsRefused) {
  test::tiny_writer(test::tiny_entries(model_), tensors_).write(file(1));
  EXPECT_NE(refusal().find("has no split.count"), std::string::npos);
}

}  // namespace
}  // namespace arion
