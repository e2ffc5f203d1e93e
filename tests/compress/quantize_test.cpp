// Whole files, quantised and read back.
#include "compress/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "io/gguf_writer.h"
#include "io/tiny_gguf.h"
#include "quant/weight_format.h"
#include "temp_dir.h"
#include "test_data.h"

namespace arion {
namespace {

using namespace test;

struct Input {
  std::string bytes;
  GgufFile file;

  explicit Input(std::string content)
      : bytes(std::move(content)), file(GgufFile::parse(std::as_bytes(std::span(bytes)))) {}
};

std::string tiny_file() {
  return tiny_gguf(tiny_stop_model());
}

QuantizePlan plan_for(const GgufFile& file, std::string_view type,
                      const ImportanceMatrix* importance = nullptr) {
  return plan_quantization(
      file, {.mixture = require_mixture(type), .has_importance = importance != nullptr},
      importance);
}

GgufFile write(const QuantizePlan& plan, const std::filesystem::path& path, int threads = 1,
               uint64_t shard_bytes = 0) {
  WorkerPool pool(threads);
  return GgufFile::open(write_quantized(plan, {path, shard_bytes}, pool, [](uint64_t) {}).front());
}

// One matrix of 2 x 256 values in a type.
std::string one_tensor(const std::vector<float>& values, std::string_view type = "F32") {
  const WeightFormat& format = *find_weight_format(type);
  std::vector<std::byte> data(2 * format.row_bytes(256));
  for (size_t r = 0; r < 2; ++r) {
    format.encode_row(std::span(values).subspan(256 * r, 256), {},
                      std::span(data).subspan(r * format.row_bytes(256), format.row_bytes(256)));
  }
  GgufWriter writer;
  writer.add_string("general.architecture", "llama");
  writer.add_tensor("blk.0.ffn_up.weight", std::vector<uint64_t>{256, 2}, format.gguf_type(), data);
  return writer.bytes();
}

TEST(Quantize, TensorsAreThoseOfTheEncoderAndMetadataIsCarriedOver) {
  const TempDir folder;
  const Input in(tiny_file());
  const GgufFile out = write(plan_for(in.file, "Q8_0"), folder.path() / "q.gguf");
  EXPECT_EQ(out.metadata().get_unsigned("general.file_type"), 7u);
  EXPECT_EQ(out.metadata().get_unsigned("general.quantization_version"), 2u);
  EXPECT_EQ(out.metadata().get_string("general.name"), "tinylm");
  EXPECT_EQ(out.metadata().entries().size(), in.file.metadata().entries().size() + 1);
  ASSERT_EQ(out.tensors().size(), in.file.tensors().size());
  const WeightFormat& q8 = *find_weight_format("Q8_0");
  const WeightFormat& f32 = *find_weight_format("F32");
  for (size_t i = 0; i < out.tensors().size(); ++i) {
    const GgufTensor& from = in.file.tensors()[i];
    const GgufTensor& to = out.tensors()[i];
    EXPECT_EQ(from.name, to.name);
    EXPECT_EQ(from.ne, to.ne);
    if (to.type != q8.gguf_type()) {
      EXPECT_TRUE(std::ranges::equal(from.data, to.data)) << to.name;
      EXPECT_EQ(from.rows(), 1u) << to.name;
      continue;
    }
    const auto cols = static_cast<int>(from.cols());
    std::vector<float> row(from.cols());
    std::vector<std::byte> expected(q8.row_bytes(cols));
    f32.decode_row(from.data.first(f32.row_bytes(cols)), row);
    q8.encode_row(row, {}, expected);
    EXPECT_TRUE(std::ranges::equal(expected, to.data.first(expected.size()))) << to.name;
  }
}

TEST(Quantize, TheNumberOfThreadsChangesNothing) {
  const TempDir folder;
  const Input in(tiny_file());
  const QuantizePlan plan = plan_for(in.file, "Q4_0");
  write(plan, folder.path() / "1.gguf", 1);
  write(plan, folder.path() / "3.gguf", 3);
  EXPECT_EQ(read_file(folder.path() / "1.gguf"), read_file(folder.path() / "3.gguf"));
}

TEST(Quantize, EveryMixtureOfEveryModelIsWrittenOrAsksForImportance) {
  const TempDir folder;
  const Input in(tiny_file());
  ImportanceMatrix importance;
  for (const GgufTensor& tensor : in.file.tensors()) {
    importance.tensors[std::string(tensor.name)] = {std::vector<float>(tensor.cols(), 0.0f), {1}};
  }
  for (const Mixture& mixture : mixtures()) {
    const GgufFile out =
        write(plan_for(in.file, mixture.name, &importance), folder.path() / "q.gguf");
    EXPECT_EQ(out.metadata().get_unsigned("general.file_type"), mixture.file_type);
    EXPECT_EQ(out.tensors().size(), in.file.tensors().size()) << mixture.name;
  }
}

TEST(Quantize, SplitModelsAreReadAsOne) {
  const TempDir folder;
  const Input in(tiny_file());
  const QuantizePlan plan = plan_for(in.file, "Q8_0");
  const GgufFile whole = write(plan, folder.path() / "whole.gguf");
  const GgufFile split = write(plan, folder.path() / "split.gguf", 1, plan.bytes() / 3);
  EXPECT_GE(split.file_names().size(), 3u);
  ASSERT_EQ(split.tensors().size(), whole.tensors().size());
  for (const GgufTensor& tensor : whole.tensors()) {
    EXPECT_TRUE(std::ranges::equal(tensor.data, split.require_tensor(tensor.name).data));
  }
  const Input again(read_file(folder.path() / "whole.gguf"));
  EXPECT_FALSE(split.metadata().has("split.tensors.count") &&
               whole.metadata().has("split.tensors.count"));
}

TEST(Quantize, NotFiniteWeightsAreNamedAndNothingIsWritten) {
  const TempDir folder;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {std::nanf(""), kInfinity, -kInfinity}) {
    std::vector<float> values(512, 1.0f);
    values[300] = bad;
    const Input in(one_tensor(values));
    for (const char* type : {"F32", "F16", "Q8_0", "Q4_K_M"}) {
      try {
        write(plan_for(in.file, type), folder.path() / "q.gguf", 2);
        ADD_FAILURE() << type;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_input);
        const std::string text = error.what();
        EXPECT_NE(text.find("blk.0.ffn_up.weight"), std::string::npos) << text;
        EXPECT_NE(text.find("index 300"), std::string::npos) << text;
      }
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Quantize, LargeWeightsStayLargeOrAreRefused) {
  const TempDir folder;
  for (const float large : {1e5f, 1e9f, 1e15f, 1e17f, 1e20f, 1e30f, 3e38f}) {
    std::vector<float> values(512, 1.0f);
    values[3] = large;
    const Input in(one_tensor(values));
    for (const char* type :
         {"F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K_S", "Q4_K_M",
          "Q5_K_M", "Q6_K", "IQ4_NL", "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4_MOE", "Q2_0", "IQ3_S"}) {
      try {
        const GgufFile out = write(plan_for(in.file, type), folder.path() / "q.gguf");
        const GgufTensor& tensor = out.tensors()[0];
        const WeightFormat& format = out.weight_format(tensor);
        std::vector<float> row(256);
        format.decode_row(tensor.data.first(format.row_bytes(256)), row);
        for (const float x : row) ASSERT_TRUE(std::isfinite(x)) << type << " " << large;
        EXPECT_GT(row[3], large / 2) << type << " " << large;
        EXPECT_NE(type, std::string("F16"));
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("index"), std::string::npos) << error.what();
      }
    }
  }
}

TEST(Quantize, CoarseTypesWantImportanceOfTheSameModel) {
  const Input in(one_tensor(std::vector<float>(512, 1.0f)));
  EXPECT_THROW(plan_for(in.file, "IQ2_XS"), Error);
  ImportanceMatrix importance;
  importance.tensors["blk.0.ffn_up.weight"] = {std::vector<float>(128, 1.0f), {1}};
  EXPECT_THROW(plan_for(in.file, "Q4_K_M", &importance), Error);
  importance.tensors["blk.0.ffn_up.weight"] = {std::vector<float>(256, 1.0f), {1}};
  EXPECT_EQ(plan_for(in.file, "IQ2_XS", &importance).tensors[0].is_fallback(), false);
}

TEST(Quantize, MoreFilesThanAModelMayHaveAreRefused) {
  GgufWriter writer;
  for (int i = 0; i < 1000; ++i) {
    writer.add_tensor(std::to_string(i), std::vector<uint64_t>{1}, 0, std::vector<std::byte>(4));
  }
  const Input in(writer.bytes());
  const TempDir folder;
  EXPECT_THROW(write(plan_for(in.file, "F16"), folder.path() / "q.gguf", 1, 1), Error);
}

TEST(Quantize, NamesThatAModelCouldNotBeReadByAreRefused) {
  const Input in(tiny_file());
  const QuantizePlan plan = plan_for(in.file, "Q8_0");
  for (const char* name : {"x-00001-of-00002.gguf", "no/x-00002-of-00002.gguf"}) {
    EXPECT_THROW(output_paths(plan, {name}), Error) << name;
  }
  EXPECT_EQ(output_paths(plan, {"x-1-of-2.gguf"}).size(), 1u);
  const auto paths = output_paths(plan, {"a/x.gguf", 4096});
  ASSERT_GT(paths.size(), 1u);
  EXPECT_EQ(paths.front(), fmt::format("a/x-00001-of-{:05}.gguf", paths.size()));
}

TEST(Quantize, WritingThatEndsEarlyLeavesEveryFileAsItWas) {
  const Input in(tiny_file());
  const QuantizePlan plan = plan_for(in.file, "Q8_0");
  const TempDir folder;
  const QuantizeOutput output{folder.path() / "x.gguf", 4096};
  const auto paths = output_paths(plan, output);
  ASSERT_GT(paths.size(), 2u);
  folder.write(paths[1].filename().string(), "old");
  WorkerPool pool(1);
  struct Stopped {};
  uint64_t last = 0;
  const auto stop_at_end = [&](uint64_t done) {
    last = std::max(last, done);
    if (done + plan.tensors.back().source->values() == plan.values()) throw Stopped();
  };
  EXPECT_THROW(write_quantized(plan, output, pool, stop_at_end), Stopped);
  EXPECT_GT(last, 0u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_EQ(test::read_file(paths[1]), "old");
}

TEST(Quantize, ABreakBetweenFilesLeavesNoMixOfOldAndNew) {
  const Input in(tiny_file());
  const QuantizePlan plan = plan_for(in.file, "Q8_0");
  const TempDir folder;
  const QuantizeOutput output{folder.path() / "x.gguf", 4096};
  WorkerPool pool(1);
  const auto paths = write_quantized(plan, output, pool, [](uint64_t) {});
  ASSERT_GT(paths.size(), 2u);
  EXPECT_EQ(GgufFile::open(paths[0]).file_names().size(), paths.size());
  const auto put_folder_in_the_way = [&](uint64_t done) {
    if (done > 0) return;
    std::filesystem::remove(paths[1]);
    std::filesystem::create_directory(paths[1]);
  };
  EXPECT_THROW(write_quantized(plan, output, pool, put_folder_in_the_way), Error);
  EXPECT_FALSE(std::filesystem::exists(paths[0]));
  EXPECT_TRUE(std::filesystem::exists(paths.back()));
  std::filesystem::remove(paths[1]);
  EXPECT_EQ(write_quantized(plan, output, pool, [](uint64_t) {}), paths);
  EXPECT_EQ(GgufFile::open(paths[0]).file_names().size(), paths.size());
}

TEST(Quantize, VectorsOf16BitsBecomeF32) {
  GgufWriter writer;
  const std::vector<std::byte> ones = {std::byte{0x80}, std::byte{0x3f}, std::byte{0x80},
                                       std::byte{0x3f}};
  writer.add_tensor("output_norm.weight", std::vector<uint64_t>{2}, 30, ones);
  const Input in(writer.bytes());
  const TempDir folder;
  const GgufFile out = write(plan_for(in.file, "Q8_0"), folder.path() / "q.gguf");
  const GgufTensor& norm = out.require_tensor("output_norm.weight");
  EXPECT_EQ(norm.type, 0u);
  float values[2];
  std::memcpy(values, norm.data.data(), sizeof values);
  EXPECT_EQ(values[0], 1.0f);
}

// Rows of a head 0 1 | 2 3 become 0 2 1 3, in matrices as in biases.
TEST(Quantize, HalvesOfHeadsAreInterleavedWhereTheFileSaysSo) {
  GgufWriter writer;
  writer.add_string("general.architecture", "llama");
  writer.add_string("llama.rope.pairing", "half_split");
  writer.add_u32("llama.attention.key_length", 4);
  const auto floats = [](std::vector<float> values) {
    const auto bytes = std::as_bytes(std::span(values));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const std::vector<std::byte> rows = floats({0, 1, 2, 3, 4, 5, 6, 7});
  writer.add_tensor("blk.0.attn_k.weight", std::vector<uint64_t>{1, 8}, 0, rows);
  writer.add_tensor("blk.0.attn_k.bias", std::vector<uint64_t>{8}, 0, rows);
  writer.add_tensor("blk.0.attn_v.weight", std::vector<uint64_t>{1, 8}, 0, rows);
  const Input in(writer.bytes());
  const TempDir folder;
  const GgufFile out = write(plan_for(in.file, "F32"), folder.path() / "q.gguf");
  const std::vector<std::byte> interleaved = floats({0, 2, 1, 3, 4, 6, 5, 7});
  for (const char* name : {"blk.0.attn_k.weight", "blk.0.attn_k.bias"}) {
    EXPECT_TRUE(std::ranges::equal(out.require_tensor(name).data, interleaved)) << name;
  }
  EXPECT_TRUE(std::ranges::equal(out.require_tensor("blk.0.attn_v.weight").data, rows));
  EXPECT_FALSE(out.metadata().has("llama.rope.pairing"));
}

}  // namespace
}  // namespace arion
