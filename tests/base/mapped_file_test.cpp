// Mapping of whole files.
#include "base/mapped_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "base/error.h"
#include "temp_dir.h"

namespace arion {
namespace {

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

ErrorCode code_of(const std::filesystem::path& path) {
  try {
    MappedFile{path};
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos);
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(MappedFile, HoldsTheBytesOfTheFile) {
  const test::TempDir dir;
  const std::string text(10'000, 'x');
  EXPECT_EQ(text_of(MappedFile(dir.write("f", text))), text);
}

TEST(MappedFile, ViewsSurviveAMove) {
  const test::TempDir dir;
  MappedFile first(dir.write("f", "abc"));
  const auto view = first.bytes();
  MappedFile second(std::move(first));
  MappedFile third;
  third = std::move(second);
  EXPECT_EQ(third.bytes().data(), view.data());
  EXPECT_EQ(text_of(third), "abc");
}

TEST(MappedFile, DroppedAndPrefetchedPagesReadTheSame) {
  const test::TempDir dir;
  std::string text(100'000, '\0');
  std::iota(text.begin(), text.end(), '\0');
  const MappedFile file(dir.write("f", text));
  for (const auto& [offset, bytes] : {std::pair<size_t, size_t>{0, 100'000},
                                      {5'000, 20'000},
                                      {99'999, 1},
                                      {0, 0},
                                      {200'000, 1},
                                      {50'000, SIZE_MAX}}) {
    file.drop(offset, bytes);
    file.prefetch(offset, bytes);
    EXPECT_TRUE(text_of(file) == text) << offset;
  }
}

TEST(MappedFile, MissingFoldersEmptyAndAbsentFilesAreErrorsThatNameThePath) {
  const test::TempDir dir;
  EXPECT_EQ(code_of(dir.path() / "absent"), ErrorCode::usage);
  EXPECT_EQ(code_of(dir.path()), ErrorCode::usage);
  EXPECT_EQ(code_of(dir.write("empty", "")), ErrorCode::bad_input);
}

}  // namespace
}  // namespace arion
