// arion imatrix and quantize: from a text to a file that another run reads.
#include <gtest/gtest.h>

#include <span>

#include "compress/importance.h"
#include "model/edit_model.h"
#include "program.h"

namespace arion::test {
namespace {

std::string layered_model() {
  return (source_dir() / "tests/golden/model/llama.gguf").string();
}

std::string letters_of(int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>('a' + i * 7 % 26);
  return text;
}

// Runs the program on a tiny model, writing `name` in `folder`.
std::filesystem::path collect(const TempDir& folder, const std::string& name,
                              const std::string& arguments) {
  const auto path = folder.path() / name;
  const Outcome outcome =
      run_arion("imatrix " + layered_model() + " --ctx 32 -o " + path.string() + " " + arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return path;
}

TEST(Imatrix, HoldsEveryMatrixOfTheLayers) {
  const TempDir folder;
  const std::string text = folder.write("text", letters_of(400)).string();
  const auto got = ImportanceMatrix::load(collect(folder, "a", "--file " + text));
  EXPECT_TRUE(got.tensors.contains("blk.0.attn_q.weight"));
  EXPECT_FALSE(got.tensors.contains("output.weight"));
  EXPECT_EQ(got.datasets, (std::vector<std::string>{text}));
  EXPECT_EQ(got.chunk_tokens, 32u);
  ASSERT_GE(got.chunks, 3u);
  for (const auto& [name, sums] : got.tensors) {
    EXPECT_EQ(sums.counts, (std::vector<float>{static_cast<float>(32 * got.chunks)})) << name;
  }
  const auto all = ImportanceMatrix::load(collect(folder, "b", "--with-output --file " + text));
  EXPECT_EQ(all.tensors.size(), got.tensors.size() + 1);
}

TEST(Imatrix, GoesOnWhereItEnded) {
  const TempDir folder;
  const std::string text = folder.write("text", letters_of(400)).string();
  const auto whole = ImportanceMatrix::load(collect(folder, "whole", "--file " + text));
  collect(folder, "part", "--max-tokens 70 --file " + text);
  const auto part = ImportanceMatrix::load(folder.path() / "part");
  ASSERT_LT(part.chunks, whole.chunks);
  const auto resumed = ImportanceMatrix::load(collect(folder, "part", "--resume --file " + text));
  EXPECT_EQ(resumed.chunks, whole.chunks);
  EXPECT_EQ(resumed.datasets, whole.datasets);
  for (const auto& [name, sums] : whole.tensors) {
    const ImportanceSums& got = resumed.tensors.at(name);
    EXPECT_EQ(got.counts, sums.counts);
    for (size_t i = 0; i < sums.sums.size(); ++i) {
      EXPECT_NEAR(got.sums[i], sums.sums[i], 1e-6 * sums.sums[i]);
    }
  }
  EXPECT_EQ(run_arion("imatrix " + layered_model() + " --ctx 64 --resume --file " + text + " -o " +
                      (folder.path() / "part").string())
                .exit_code,
            2)
      << "chunks of another size";
}

TEST(Imatrix, DoesNotGoOnWithSumsOfAnotherTextOrModel) {
  const TempDir folder;
  const std::string text = folder.write("text", letters_of(200)).string();
  const auto sums = collect(folder, "sums", "--max-tokens 70 --file " + text);
  const std::string before = read_file(sums);
  const Edit edit{{"output_norm.weight"}, [](GgufWriter& w) {
                    const std::vector<float> ones(64, 1.5f);
                    const auto bytes = std::as_bytes(std::span(ones));
                    w.add_tensor("output_norm.weight", std::vector<uint64_t>{64}, 0,
                                 {bytes.begin(), bytes.end()});
                  }};
  const std::string other =
      folder.write("other.gguf", edit_model(read_file(layered_model()), edit)).string();
  const auto resume = [&](const std::string& model) {
    return run_arion("imatrix " + model + " --ctx 32 --resume --file " + text + " -o " +
                     sums.string());
  };
  const auto expect_refused = [&](const std::string& model, const std::string& words) {
    const Outcome outcome = resume(model);
    EXPECT_EQ(outcome.exit_code, 2) << words;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    EXPECT_EQ(read_file(sums), before);
  };
  expect_refused(other, "was collected from another model");
  folder.write("text", "x" + letters_of(200));
  expect_refused(layered_model(), text + " has changed");
  folder.write("text", letters_of(40));
  expect_refused(layered_model(), "more than the 1 of");
  folder.write("text", letters_of(300));  // longer, but the same so far
  EXPECT_EQ(resume(layered_model()).exit_code, 0);
  auto unmarked = ImportanceMatrix::load(sums);
  EXPECT_NE(unmarked.model_mark, 0u);
  unmarked.model_mark = unmarked.token_mark = 0;
  unmarked.save(sums);
  EXPECT_EQ(resume(other).exit_code, 0) << "files of other programs";
}

TEST(Imatrix, MatricesAreMergedWithoutAModel) {
  const TempDir folder;
  const std::string text = folder.write("text", letters_of(200)).string();
  const auto path = collect(folder, "a", "--file " + text);
  const auto one = ImportanceMatrix::load(path);
  const std::string both = (folder.path() / "both").string();
  const Outcome outcome =
      run_arion("imatrix --merge " + path.string() + " --merge " + path.string() + " -o " + both);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto two = ImportanceMatrix::load(both);
  for (const auto& [name, sums] : one.tensors) {
    EXPECT_FLOAT_EQ(two.tensors.at(name).sums[0], 2 * sums.sums[0]);
  }
  EXPECT_EQ(run_arion("imatrix " + layered_model() + " -o " + both).exit_code, 2)
      << "nothing to do";
}

TEST(Imatrix, ResumingNeedsATextAndOptionsAreExplained) {
  const TempDir folder;
  const std::string text = folder.write("text", letters_of(200)).string();
  const auto path = collect(folder, "a", "--file " + text);
  const std::string before = read_file(path);
  const std::string start = "imatrix " + layered_model() + " -o " + path.string() + " ";
  const auto expect_usage = [&](const std::string& arguments, const std::string& words) {
    const Outcome outcome = run_arion(start + arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << arguments << ": " << outcome.err;
    EXPECT_EQ(read_file(path), before) << arguments;
  };
  expect_usage("--resume --merge " + layered_model(), "--resume goes on with the text of --file");
  expect_usage("--file " + text + " --max-tokens 10", "--max-tokens 10 is less than one window");
  expect_usage("--file " + text + " --max-tokens x",
               "--max-tokens: expected a whole number from 0 to 1073741824, got 'x'");
  expect_usage("--file " + text + " --ctx 400", "fewer than one window of 400");
  const std::string empty = folder.write("empty", "").string();
  expect_usage("--file " + empty, "--file: '" + empty + "' is empty");
}

TEST(Imatrix, QuantizeTakesIt) {
  const TempDir folder;
  const std::string text = folder.write("text", letters_of(200)).string();
  const auto path = collect(folder, "a", "--file " + text);
  const std::string out = (folder.path() / "q.gguf").string();
  const Outcome outcome = run_arion("quantize " + layered_model() + " " + out +
                                    " --type Q4_0 --imatrix " + path.string());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Outcome inspected = run_arion("inspect " + out);
  EXPECT_NE(inspected.out.find("quantize.imatrix.entries_count"), std::string::npos)
      << inspected.out;
  EXPECT_EQ(run_arion("eval logits --hash --tokens 1,2,3 " + out).exit_code, 0);
}

}  // namespace
}  // namespace arion::test
