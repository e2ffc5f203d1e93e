// What makes the files of a model others than they were.
#include "io/source_key.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "flip_bit.h"
#include "temp_dir.h"
#include "test_data.h"

namespace arion {
namespace {

namespace fs = std::filesystem;

class SourceKeyTest : public testing::Test {
 protected:
  SourceKey key() const { return *read_source_key(GgufFile::open(path_)); }

  const test::TempDir folder_;
  const fs::path path_ = folder_.write("model.gguf", test::read_file(test::tiny()));
};

TEST_F(SourceKeyTest, TheSameFileIsTheSameUnderAnotherName) {
  const SourceKey then = key();
  EXPECT_EQ(describe_change(then, key()), "");
  const fs::path moved = folder_.path() / "moved.gguf";
  fs::rename(path_, moved);
  EXPECT_EQ(describe_change(then, *read_source_key(GgufFile::open(moved))), "");
}

TEST_F(SourceKeyTest, TimeInodeAndSizeCount) {
  const SourceKey then = key();
  const auto time = fs::last_write_time(path_);
  fs::last_write_time(path_, time + std::chrono::seconds(1));
  EXPECT_NE(describe_change(then, key()).find("was modified"), std::string::npos);

  const fs::path copy = folder_.path() / "copy.gguf";
  fs::copy_file(path_, copy);
  fs::last_write_time(copy, time);
  fs::rename(copy, path_);
  EXPECT_NE(describe_change(then, key()).find("was replaced"), std::string::npos);

  fs::resize_file(path_, fs::file_size(path_) + 64);
  fs::last_write_time(path_, time);
  EXPECT_NE(describe_change(then, key()).find("bytes, it had"), std::string::npos);
}

TEST_F(SourceKeyTest, ContentAtBothEndsCountsThoughTheTimeWasSetBack) {
  const SourceKey then = key();
  const auto time = fs::last_write_time(path_);
  const size_t last = fs::file_size(path_) - 1;
  test::flip_bit(path_, last);
  fs::last_write_time(path_, time);
  EXPECT_NE(describe_change(then, key()).find("has other content"), std::string::npos);
  test::flip_bit(path_, last);
  fs::last_write_time(path_, time);
  EXPECT_EQ(describe_change(then, key()), "");
}

TEST_F(SourceKeyTest, AnotherNumberOfFilesIsNamed) {
  SourceKey then = key();
  then.files.push_back(then.files[0]);
  EXPECT_EQ(describe_change(then, key()), "the model has 1 files, it had 2");
}

TEST_F(SourceKeyTest, AModelInMemoryHasNone) {
  const std::string bytes = test::read_file(path_);
  EXPECT_FALSE(read_source_key(GgufFile::parse(std::as_bytes(std::span(bytes)))));
}

}  // namespace
}  // namespace arion
