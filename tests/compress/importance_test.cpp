// Importance files: both forms, and hostile ones.
#include "compress/importance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "io/gguf_writer.h"
#include "temp_dir.h"

namespace arion {
namespace {

using test::TempDir;

// A stack of two matrices of `sums.size() / 2` columns, as the GGUF form holds it.
std::string gguf(const std::vector<float>& sums, const std::vector<float>& counts,
                 const std::string& type = "imatrix") {
  GgufWriter writer;
  writer.add_string("general.type", type);
  const auto add = [&](const std::string& name, std::span<const float> values, uint64_t rows) {
    const auto bytes = std::as_bytes(values);
    writer.add_tensor(name, std::vector<uint64_t>{values.size() / rows, rows}, 0,
                      std::vector<std::byte>(bytes.begin(), bytes.end()));
  };
  add("blk.0.ffn_up_exps.weight.in_sum2", sums, 2);
  if (!counts.empty()) add("blk.0.ffn_up_exps.weight.counts", counts, counts.size());
  return writer.bytes();
}

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string dat(const std::vector<float>& values, int32_t calls, int32_t count) {
  std::string out;
  const std::string name = "blk.0.attn_q.weight";
  put<int32_t>(out, 1);
  put<int32_t>(out, static_cast<int32_t>(name.size()));
  out += name;
  put(out, calls);
  put(out, count);
  for (const float v : values) put(out, v);
  put<int32_t>(out, 7);
  put<int32_t>(out, 4);
  return out + "wiki";
}

TEST(Importance, GgufFilesHoldSumsAndCountsOfEachMatrix) {
  const TempDir folder;
  const auto path = folder.write("m.gguf", gguf({1, 2, 3, 4, 5, 6}, {1, 4}));
  const ImportanceMatrix got = ImportanceMatrix::load(path);
  const ImportanceSums& sums = got.tensors.at("blk.0.ffn_up_exps.weight");
  EXPECT_EQ(sums.sums, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(sums.counts, (std::vector<float>{1, 4}));
  EXPECT_EQ(sums.cols(), 3u);
}

TEST(Importance, OldFilesHoldMeansTimesCalls) {
  const TempDir folder;
  const auto path = folder.write("m.dat", dat({2, 4, 6}, 2, 3));
  const ImportanceMatrix got = ImportanceMatrix::load(path);
  const auto weights = column_weights(got.tensors.at("blk.0.attn_q.weight"));
  EXPECT_EQ(*weights, (std::vector<float>{0.5f, 1.0f, 1.5f})) << "1, 2, 3 by a power of two";
}

TEST(Importance, UnusedColumnsAndMatricesGetEqualWeights) {
  std::vector<float> sums(64, 0.0f);
  std::fill(sums.begin() + 16, sums.begin() + 32, 1e38f);
  const auto weights = column_weights({sums, {1, 0}});  // two matrices of 32 columns
  ASSERT_TRUE(weights.has_value());
  for (int i = 0; i < 16; ++i) EXPECT_EQ((*weights)[i], (*weights)[0]);
  EXPECT_GT((*weights)[0], 0);
  EXPECT_LT((*weights)[0], 1e-5f);
  EXPECT_LT((*weights)[16], 2.0f);
  EXPECT_GE((*weights)[16], 1.0f);
  for (int i = 32; i < 64; ++i) EXPECT_EQ((*weights)[i], 1.0f);
  EXPECT_FALSE(column_weights({std::vector<float>(64, 0.0f), {5, 5}}).has_value());
}

TEST(Importance, ValuesThatAreNoSumsOfSquaresAreRefused) {
  const TempDir folder;
  for (const float bad : {-1.0f, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    EXPECT_THROW(ImportanceMatrix::load(folder.write("bad.dat", dat({1, bad, 3}, 2, 3))), Error);
    EXPECT_THROW(ImportanceMatrix::load(folder.write("bad.gguf", gguf({1, bad}, {1, 1}))), Error);
    EXPECT_THROW(ImportanceMatrix::load(folder.write("bad.gguf", gguf({1, 2}, {1, bad}))), Error);
  }
}

TEST(Importance, WhatIsSavedIsLoadedAgain) {
  const TempDir folder;
  ImportanceMatrix saved;
  saved.tensors["blk.0.ffn_up_exps.weight"] = {{1, 2, 3, 4, 5, 6}, {7, 8}};
  saved.tensors["blk.0.attn_q.weight"] = {{1.5f, 0}, {512}};
  saved.datasets = {"a.txt", "b.txt"};
  saved.chunks = 12;
  saved.chunk_tokens = 512;
  saved.save(folder.path() / "m.gguf");
  const ImportanceMatrix got = ImportanceMatrix::load(folder.path() / "m.gguf");
  ASSERT_EQ(got.tensors.size(), 2u);
  for (const auto& [name, sums] : saved.tensors) {
    EXPECT_EQ(got.tensors.at(name).sums, sums.sums);
    EXPECT_EQ(got.tensors.at(name).counts, sums.counts);
  }
  EXPECT_EQ(got.datasets, saved.datasets);
  EXPECT_EQ(got.chunks, 12u);
  EXPECT_EQ(got.chunk_tokens, 512u);
}

TEST(Importance, MatricesOfOneModelAddUp) {
  ImportanceMatrix a;
  a.tensors["q"] = {{1, 2}, {3}};
  a.datasets = {"a"};
  a.chunks = 1;
  ImportanceMatrix b;
  b.tensors["q"] = {{10, 20}, {30}};
  b.tensors["k"] = {{5, 6}, {7}};
  b.datasets = {"b", "a"};
  b.chunks = 2;
  b.chunk_tokens = 64;
  a.add(b);
  EXPECT_EQ(a.tensors.at("q").sums, (std::vector<float>{11, 22}));
  EXPECT_EQ(a.tensors.at("q").counts, (std::vector<float>{33}));
  EXPECT_EQ(a.tensors.at("k").sums, (std::vector<float>{5, 6}));
  EXPECT_EQ(a.datasets, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(a.chunks, 3u);
  EXPECT_EQ(a.chunk_tokens, 64u);
  ImportanceMatrix other;
  other.tensors["q"] = {{1, 2, 3, 4}, {1, 1}};
  EXPECT_THROW(a.add(other), Error);
}

TEST(Importance, HostileFilesAreRefused) {
  const TempDir folder;
  const std::string good = dat({1, 2, 3}, 2, 3);
  for (size_t size = 1; size + 12 < good.size(); ++size) {  // the end may be missing
    EXPECT_THROW(ImportanceMatrix::load(folder.write("cut.dat", good.substr(0, size))), Error);
  }
  for (const int32_t count : {-1, 0, 5, 1 << 27, std::numeric_limits<int32_t>::max()}) {
    EXPECT_THROW(ImportanceMatrix::load(folder.write("count.dat", dat({1}, 2, count))), Error)
        << count;
  }
  EXPECT_THROW(ImportanceMatrix::load(folder.write("m.gguf", gguf({1, 2}, {}))), Error);
  EXPECT_THROW(ImportanceMatrix::load(folder.write("m.gguf", gguf({1, 2}, {1}))), Error);
  EXPECT_THROW(ImportanceMatrix::load(folder.write("m.gguf", gguf({1, 2}, {1, 1}, "model"))),
               Error);
  std::string huge(4, '\xff');
  EXPECT_THROW(ImportanceMatrix::load(folder.write("huge.dat", huge)), Error);
}

}  // namespace
}  // namespace arion
