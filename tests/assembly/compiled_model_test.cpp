// Compiled models: the same bits as packed ones; stale, foreign, damaged and unsafe files unused.
#include "assembly/compiled_model.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "assembly/loaded_model.h"
#include "assembly/model_compiler.h"
#include "base/error.h"
#include "flip_bit.h"
#include "model/hf_folder.h"
#include "model/tiny_model.h"
#include "runtime/sequence_stepper.h"
#include "temp_dir.h"
#include "test_data.h"

namespace arion {
namespace {

namespace fs = std::filesystem;

// Every test has its own folder of compiled models.
class CompiledModelTest : public testing::Test {
 protected:
  CompiledModelTest() {
    setenv("ARION_COMPILED_DIR", (folder_.path() / "compiled").c_str(), 1);
    unsetenv("ARION_COMPILED");
  }
  ~CompiledModelTest() override {
    unsetenv("ARION_COMPILED_DIR");
    unsetenv("ARION_COMPILED");
  }

  static Model describe(const fs::path& path) { return describe_model(open_model(path)); }

  // Compiles to where it is found, and returns that path.
  static fs::path compile(const fs::path& path) {
    make_compiled_dir();
    WorkerPool pool(2);
    compile_model(describe(path), compiled_path(path), pool, {});
    return compiled_path(path);
  }

  static LoadedModel load(const fs::path& path, const std::string& compiled = "") {
    return load_model({.model = path.string(), .compiled = compiled, .threads = 2, .context = 64});
  }

  static std::vector<float> logits(const LoadedModel& loaded) {
    GraphRunner& runner = *loaded.runner;
    std::vector<TokenId> tokens;
    for (int i = 0; i < 20; ++i) tokens.push_back(i * 7 % runner.vocab_size());
    SequenceStepper stepper(runner, tokens, LogitsRows::all);
    BatchPlan plan;
    plan.runs.push_back(stepper.next(stepper.pending()));
    const StepResult result = runner.run(plan);
    std::vector<float> all;
    for (int row = 0; row < result.rows; ++row) {
      all.insert(all.end(), result.row(row), result.row(row) + runner.vocab_size());
    }
    stepper.commit(20);
    return all;
  }

  void expect_same_bits(const fs::path& path) {
    const LoadedModel mapped = load(path), packed = load(path, "off");
    EXPECT_EQ(mapped.compiled, compiled_path(path)) << mapped.compiled_problem;
    EXPECT_EQ(packed.compiled, "");
    const std::vector<float> a = logits(mapped), b = logits(packed);
    ASSERT_EQ(a.size(), b.size());
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0) << path;
  }

  // The compiled model of `path` is left alone for the reason of `words`, and is an error if named.
  void expect_unused(const fs::path& path, const std::string& words) {
    const LoadedModel loaded = load(path);
    EXPECT_EQ(loaded.compiled, "");
    EXPECT_NE(loaded.compiled_problem.find(words), std::string::npos) << loaded.compiled_problem;
    EXPECT_THROW(load(path, compiled_path(path).string()), Error);
  }

  fs::path model(const std::string& name = "model.gguf") const {
    return folder_.write(name, test::read_file(test::tiny()));
  }

  const test::TempDir folder_;
};

TEST_F(CompiledModelTest, EveryFormatGivesTheBitsOfPackedWeights) {
  for (const WeightFormat* format : weight_formats()) {
    test::TinyModel shape = test::tiny_shape("llama", format->block_values());
    shape.format = test::all_in(std::string(format->name()));
    const fs::path path = folder_.write("model.gguf", test::write_tiny_model(shape));
    compile(path);
    SCOPED_TRACE(format->name());
    expect_same_bits(path);
  }
}

TEST_F(CompiledModelTest, EveryArchitectureAndFoldersGiveTheBitsOfPackedWeights) {
  for (const char* name : {"llama", "qwen2", "qwen3", "gemma3", "hf/gemma3"}) {
    SCOPED_TRACE(name);
    const fs::path golden = test::source_dir() / "tests/golden/model" / name;
    const bool is_folder = fs::is_directory(golden);
    const fs::path path = is_folder ? golden : fs::path(test::tiny(name));
    compile(path);
    expect_same_bits(path);
  }
}

TEST_F(CompiledModelTest, IsTheSameFileWhateverProcessOrThreadsWriteIt) {
  const fs::path path = model();
  const std::string first = test::read_file(compile(path));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { compile(path); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(test::read_file(compiled_path(path)), first);
  int files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(compiled_dir())) ++files;
  EXPECT_EQ(files, 1);  // nothing half done is left
  expect_same_bits(path);
}

TEST_F(CompiledModelTest, IsPrivateAndInAPrivateFolder) {
  const fs::path compiled = compile(model());
  EXPECT_EQ(fs::status(compiled).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(compiled.parent_path()).permissions(), fs::perms::owner_all);
}

TEST_F(CompiledModelTest, AWriterThatIsStoppedLeavesWhatWasThere) {
  const fs::path path = model();
  const std::string before = test::read_file(compile(path));
  WorkerPool pool(1);
  const auto stop = [](uint64_t, uint64_t) { fail(ErrorCode::failed, "stopped"); };
  EXPECT_THROW(compile_model(describe(path), compiled_path(path), pool, stop), Error);
  EXPECT_EQ(test::read_file(compiled_path(path)), before);
}

TEST_F(CompiledModelTest, IsFoundThroughLinksAndNotForACopy) {
  const fs::path path = model(), link = folder_.path() / "link.gguf";
  compile(path);
  fs::create_symlink(path, link);
  EXPECT_EQ(load(link).compiled, compiled_path(path));
  EXPECT_EQ(load(model("copy.gguf")).compiled, "");
}

TEST_F(CompiledModelTest, IsNotUsedForAnotherModelOfTheSameShape) {
  const fs::path path = model(), other = model("other.gguf");
  compile(path);
  fs::copy_file(compiled_path(path), compiled_path(other));
  expect_unused(other, "was compiled from other files");
}

TEST_F(CompiledModelTest, IsNotUsedOnceTheModelIsModified) {
  const fs::path path = model();
  compile(path);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  expect_unused(path, "was modified; compile the model again");
  compile(path);
  expect_same_bits(path);
}

TEST_F(CompiledModelTest, TruncatedDamagedAndForeignFilesAreNotUsed) {
  const fs::path path = model(), compiled = compile(path);
  const size_t size = fs::file_size(compiled);
  test::flip_bit(compiled, size - 20);
  expect_unused(path, "the table is damaged");
  test::flip_bit(compiled, size - 20);
  expect_same_bits(path);
  fs::resize_file(compiled, size - 1);
  expect_unused(path, "the table is damaged");
  fs::resize_file(compiled, 1000);
  expect_unused(path, "the file is truncated");
  fs::resize_file(compiled, 0);
  expect_unused(path, "the file is empty");
  std::ofstream(compiled) << "something else";
  expect_unused(path, "is not a compiled model");
  fs::remove(compiled);
  fs::create_directory(compiled);
  expect_unused(path, "not a regular file");
}

TEST_F(CompiledModelTest, OneThatOthersMayWriteIsNotUsed) {
  const fs::path path = model(), compiled = compile(path);
  for (const fs::perms who : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(compiled, who, fs::perm_options::add);
    expect_unused(path, "others can write it");
    fs::permissions(compiled, who, fs::perm_options::remove);
  }
  expect_same_bits(path);
}

// A link in it would lead the writer to any file of the user.
TEST_F(CompiledModelTest, AFolderThatOthersMayWriteIsNotWrittenTo) {
  make_compiled_dir();
  for (const fs::perms who : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(compiled_dir(), who, fs::perm_options::add);
    EXPECT_THROW(make_compiled_dir(), Error);
    fs::permissions(compiled_dir(), who, fs::perm_options::remove);
  }
  EXPECT_NO_THROW(make_compiled_dir());
  fs::remove(compiled_dir());
  std::ofstream(compiled_dir()) << "a file";
  EXPECT_THROW(make_compiled_dir(), Error);
}

TEST_F(CompiledModelTest, OneOfAnotherUserIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const fs::path path = model(), compiled = compile(path);
  ASSERT_EQ(chown(compiled.c_str(), 65534, 65534), 0);
  expect_unused(path, "belongs to user 65534");
}

TEST_F(CompiledModelTest, CanBeSwitchedOffOrNamedByTheEnvironment) {
  const fs::path path = model(), elsewhere = folder_.path() / "elsewhere.panels";
  fs::rename(compile(path), elsewhere);
  EXPECT_EQ(load(path).compiled, "");
  setenv("ARION_COMPILED", elsewhere.c_str(), 1);
  EXPECT_EQ(load(path).compiled, elsewhere);
  EXPECT_EQ(load(path, "off").compiled, "");
  setenv("ARION_COMPILED", "off", 1);
  compile(path);
  EXPECT_EQ(load(path).compiled, "");
  EXPECT_EQ(load(path, "auto").compiled, compiled_path(path));
}

TEST_F(CompiledModelTest, VerifyingFindsEveryDamagedTensorAndSource) {
  const fs::path path = model(), compiled = compile(path);
  WorkerPool pool(2);
  const auto problem = [&]() -> std::string {
    const Model described = describe(path);
    try {
      verify_compiled(open_compiled(compiled, described), described, pool, {});
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      return error.what();
    }
  };
  EXPECT_EQ(problem(), "");
  const CompiledModel opened = open_compiled(compiled, describe(path));
  for (const PackedTensor& tensor : opened.header.tensors) {
    for (const uint64_t at : {tensor.offset, tensor.offset + tensor.bytes - 1}) {
      test::flip_bit(compiled, opened.header.data_offset + at);
      EXPECT_NE(problem().find("tensor " + tensor.name + " is damaged"), std::string::npos);
      test::flip_bit(compiled, opened.header.data_offset + at);
    }
  }
  EXPECT_EQ(problem(), "");
}

TEST_F(CompiledModelTest, VerifyingFindsAChangeThatTheSamplesOfTheSourceMiss) {
  test::TinyModel shape = test::tiny_shape("llama", 32);
  shape.hidden = 576;
  shape.layers = 6;  // long enough for gaps between the samples
  const fs::path path = folder_.write("model.gguf", test::write_tiny_model(shape));
  const fs::path compiled = compile(path);
  const auto time = fs::last_write_time(path);
  const SourceKey key = *read_source_key(open_model(path));
  size_t at = fs::file_size(path) / 2;
  const auto is_missed = [&] {
    return describe_change(key, *read_source_key(open_model(path))).empty();
  };
  for (bool done = false; !done; at += 1024) {
    ASSERT_LT(at, fs::file_size(path));
    test::flip_bit(path, at);
    fs::last_write_time(path, time);
    done = is_missed();
    if (!done) test::flip_bit(path, at);
  }
  const Model described = describe(path);
  WorkerPool pool(2);
  EXPECT_THROW(verify_compiled(open_compiled(compiled, described), described, pool, {}), Error);
}

}  // namespace
}  // namespace arion
