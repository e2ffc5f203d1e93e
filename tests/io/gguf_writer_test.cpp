// What the writer writes, the reader reads.
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/ggml_types.h"
#include "io/gguf.h"
#include "io/tiny_gguf.h"
#include "temp_dir.h"
#include "test_data.h"

namespace arion {
namespace {

GgufFile parse(const std::string& bytes) {
  return GgufFile::parse(std::as_bytes(std::span(bytes)));
}

std::vector<std::byte> filled(size_t count, int value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

TEST(GgufWriter, EveryKindOfValueComesBack) {
  GgufWriter writer;
  writer.add_u16("u16", 1);
  writer.add_u32("u32", 2);
  writer.add_i32("i32", -3);
  writer.add_u64("u64", UINT64_MAX);
  writer.add_f32("f32", 0.5f);
  writer.add_bool("bool", true);
  writer.add_string("string", "text");
  writer.add_strings("strings", std::vector<std::string>{"a", ""});
  writer.add_f32s("f32s", std::vector<float>{1, 2});
  writer.add_i32s("i32s", std::vector<int32_t>{-1, 1});
  writer.add_u32s("u32s", std::vector<uint32_t>{7});
  const std::string bytes = writer.bytes();
  const GgufFile file = parse(bytes);
  const GgufMetadata& m = file.metadata();
  EXPECT_EQ(m.get_unsigned("u16"), 1u);
  EXPECT_EQ(m.get_unsigned("u32"), 2u);
  EXPECT_EQ(m.get_integer("i32"), -3);
  EXPECT_EQ(m.get_unsigned("u64"), UINT64_MAX);
  EXPECT_EQ(m.get_float("f32"), 0.5);
  EXPECT_EQ(m.get_bool("bool"), true);
  EXPECT_EQ(m.get_string("string"), "text");
  EXPECT_EQ(m.get_strings("strings"), (std::vector<std::string_view>{"a", ""}));
  EXPECT_EQ(m.get_floats("f32s"), (std::vector<float>{1, 2}));
  EXPECT_EQ(m.get_integers("i32s"), (std::vector<int64_t>{-1, 1}));
  EXPECT_EQ(m.get_integers("u32s"), (std::vector<int64_t>{7}));
  EXPECT_EQ(m.entries().size(), 11u);
}

TEST(GgufWriter, TensorsComeBackPaddedAndInOrder) {
  GgufWriter writer;
  writer.add_tensor("odd", std::vector<uint64_t>{3}, 0, filled(12, 1));
  writer.add_tensor("matrix", std::vector<uint64_t>{32, 2}, 2, filled(36, 2));
  writer.add_tensor("experts", std::vector<uint64_t>{2, 3, 4}, 1, filled(48, 3));
  const std::string bytes = writer.bytes();
  const GgufFile file = parse(bytes);
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.tensors()[1].name, "matrix");
  EXPECT_EQ(file.require_tensor("odd").data.size(), 12u);
  EXPECT_EQ(file.require_tensor("matrix").rows(), 2u);
  EXPECT_EQ(file.require_tensor("matrix").data[35], std::byte{2});
  EXPECT_EQ(file.require_tensor("experts").values(), 24u);
  EXPECT_EQ(describe_dims(file.require_tensor("experts").dims()), "[2, 3, 4]");
  EXPECT_EQ(file.find_tensor("other"), nullptr);
  EXPECT_THROW(file.require_tensor("other"), Error);
}

TEST(GgufWriter, CopyingEveryEntryAndTensorGivesTheSameFile) {
  const std::string bytes = test::tiny_gguf(test::tiny_stop_model());
  const GgufFile file = parse(bytes);
  GgufWriter copy;
  for (const GgufEntry& entry : file.metadata().entries()) copy.add_entry(entry);
  for (const GgufTensor& tensor : file.tensors()) {
    copy.add_tensor(tensor.name, tensor.dims(), tensor.type,
                    [&tensor] { return std::vector(tensor.data.begin(), tensor.data.end()); });
  }
  EXPECT_TRUE(copy.bytes() == bytes);
}

TEST(GgufWriter, AFileOnDiskHoldsTheSameBytesAndNoPartIsLeft) {
  const test::TempDir dir;
  GgufWriter writer;
  writer.add_string("general.architecture", "llama");
  writer.add_tensor("t", std::vector<uint64_t>{8}, 0, filled(32, 9));
  const auto path = dir.path() / "model.gguf";
  writer.write(path);
  EXPECT_EQ(test::read_file(path), writer.bytes());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

TEST(GgufWriter, AFailedWriteLeavesNothingBehind) {
  const test::TempDir dir;
  GgufWriter writer;
  writer.add_tensor("t", std::vector<uint64_t>{8}, 0, [] { return filled(31, 0); });
  EXPECT_THROW(writer.write(dir.path() / "model.gguf"), std::logic_error);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  EXPECT_THROW(writer.write(dir.path() / "absent" / "model.gguf"), Error);
}

TEST(GgufFileTest, EveryFormatOfThisBuildIsFoundAndAgreesOnTheBlockSize) {
  for (const WeightFormat* format : weight_formats()) {
    SCOPED_TRACE(format->name());
    const GgmlType* type = find_ggml_type(format->gguf_type());
    ASSERT_NE(type, nullptr);
    EXPECT_EQ(type->name, format->name());
    EXPECT_EQ(type->block_values, static_cast<uint32_t>(format->block_values()));
    EXPECT_EQ(type->block_bytes, format->block_bytes());
    GgufWriter writer;
    writer.add_tensor("t", std::vector<uint64_t>{type->block_values}, type->id,
                      filled(type->block_bytes, 0));
    const std::string bytes = writer.bytes();
    const GgufFile file = parse(bytes);
    EXPECT_EQ(&file.weight_format(file.tensors()[0]), format);
  }
}

TEST(GgufFileTest, AKnownTypeWithoutCodeIsParsedButHasNoFormat) {
  const GgmlType* type = find_ggml_type("Q8_1");  // for activations only: never a weight format
  GgufWriter writer;
  writer.add_tensor("t", std::vector<uint64_t>{32}, type->id, filled(36, 0));
  const std::string bytes = writer.bytes();
  const GgufFile file = parse(bytes);
  try {
    file.weight_format(file.tensors()[0]);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("tensor t has type Q8_1"), std::string::npos);
  }
}

TEST(GgmlTypes, IdsAreFoundByNumberAndName) {
  EXPECT_EQ(find_ggml_type(30)->name, "BF16");
  EXPECT_EQ(find_ggml_type("Q4_K")->id, 12u);
  EXPECT_EQ(find_ggml_type(43), nullptr);
  EXPECT_EQ(find_ggml_type("Q9"), nullptr);
  EXPECT_EQ(find_ggml_type(4)->status, GgmlTypeStatus::removed);
  EXPECT_EQ(find_ggml_type(202)->status, GgmlTypeStatus::fork_only);
  EXPECT_EQ(ggml_type_name(2), "Q4_0");
  EXPECT_EQ(ggml_type_name(77), "type 77");
}

TEST(GgmlTypes, MixturesHaveTheNamesOfTheirNumbers) {
  EXPECT_EQ(ggml_mixture_name(0), "F32");
  EXPECT_EQ(ggml_mixture_name(3), "Q4_1");
  EXPECT_EQ(ggml_mixture_name(15), "Q4_K_M");
  EXPECT_EQ(ggml_mixture_name(32), "BF16");
  EXPECT_EQ(ggml_mixture_name(41), "Q2_0");
  EXPECT_EQ(ggml_mixture_name(1024 + 7), "Q8_0 (guessed)");
  EXPECT_EQ(ggml_mixture_name(4), "mixture 4");
  EXPECT_EQ(ggml_mixture_name(42), "mixture 42");
  EXPECT_EQ(ggml_mixture_name(UINT64_MAX), "mixture 18446744073709551615");
}

}  // namespace
}  // namespace arion
