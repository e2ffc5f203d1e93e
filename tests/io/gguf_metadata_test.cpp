// Typed getters: type, count and range are checked before a value is used.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/raw_gguf.h"

namespace arion {
namespace {

using enum GgufType;
using test::raw;
using test::raw_array;
using test::raw_entry;
using test::raw_string;

// A file of one key "k", kept alive for the views.
class GgufValueTest : public testing::Test {
 protected:
  const GgufMetadata& single(GgufType type, const std::string& value) {
    return load(raw_entry("k", type, value));
  }
  const GgufMetadata& many(GgufType element, uint64_t count, const std::string& values) {
    return load(raw_array("k", element, count, values));
  }

 private:
  const GgufMetadata& load(const std::string& entry) {
    bytes_ = test::RawGguf{.entries = {entry}}.bytes();
    file_.emplace(test::parse(bytes_));
    return file_->metadata();
  }

  std::string bytes_;
  std::optional<GgufFile> file_;
};

template <typename Getter>
std::string message_of(Getter getter) {
  try {
    getter();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(GgufValueTest, AnyIntegerTypeGivesAnUnsigned) {
  EXPECT_EQ(single(u8, raw<uint8_t>(200)).get_unsigned("k"), 200u);
  EXPECT_EQ(single(i8, raw<int8_t>(7)).get_unsigned("k"), 7u);
  EXPECT_EQ(single(u16, raw<uint16_t>(60'000)).get_unsigned("k"), 60'000u);
  EXPECT_EQ(single(i16, raw<int16_t>(7)).get_unsigned("k"), 7u);
  EXPECT_EQ(single(u32, raw(UINT32_MAX)).get_unsigned("k"), UINT32_MAX);
  EXPECT_EQ(single(i32, raw(INT32_MAX)).get_unsigned("k"), uint64_t{INT32_MAX});
  EXPECT_EQ(single(u64, raw(UINT64_MAX)).get_unsigned("k"), UINT64_MAX);
  EXPECT_EQ(single(i64, raw(INT64_MAX)).get_unsigned("k"), uint64_t{INT64_MAX});
}

TEST_F(GgufValueTest, ANegativeNumberIsNoUnsigned) {
  for (const auto& [type, value] : {std::pair{i8, raw<int8_t>(-1)}, {i64, raw<int64_t>(-1)}}) {
    const GgufMetadata& metadata = single(type, value);
    EXPECT_THROW(metadata.get_unsigned("k"), Error);
    EXPECT_EQ(metadata.get_integer("k"), -1);
  }
}

TEST_F(GgufValueTest, AnIntegerOf63BitsOrMoreIsNoInteger) {
  EXPECT_THROW(single(u64, raw(1ull << 63)).get_integer("k"), Error);
}

TEST_F(GgufValueTest, TheMessageNamesFileKeyTypeValueAndWhatWasExpected) {
  const GgufMetadata& metadata = single(string, raw_string("one"));
  EXPECT_EQ(message_of([&] { metadata.get_unsigned("k"); }),
            "test.gguf: metadata key 'k' has type string, value one, expected a non-negative "
            "integer");
  EXPECT_EQ(message_of([&] { metadata.require_unsigned("llama.block_count"); }),
            "test.gguf: metadata key 'llama.block_count' is missing");
}

TEST_F(GgufValueTest, AnArrayIsNoSingleValueAndTheReverse) {
  const GgufMetadata& array = many(u32, 1, raw<uint32_t>(1));
  EXPECT_THROW(array.get_unsigned("k"), Error);
  EXPECT_THROW(array.get_string("k"), Error);
  const GgufMetadata& value = single(u32, raw<uint32_t>(1));
  EXPECT_THROW(value.get_integers("k"), Error);
  EXPECT_THROW(value.get_strings("k"), Error);
}

TEST_F(GgufValueTest, FloatsAreFiniteAndOfAFloatingType) {
  EXPECT_EQ(single(f32, raw(0.5f)).get_float("k"), 0.5);
  EXPECT_EQ(single(f64, raw(1e300)).get_float("k"), 1e300);
  EXPECT_THROW(single(f32, raw(std::nanf(""))).get_float("k"), Error);
  EXPECT_THROW(single(f64, raw(std::numeric_limits<double>::infinity())).get_float("k"), Error);
  EXPECT_THROW(single(u32, raw<uint32_t>(1)).get_float("k"), Error);
}

TEST_F(GgufValueTest, BooleansAreZeroOrOne) {
  EXPECT_EQ(single(boolean, raw<uint8_t>(0)).get_bool("k"), false);
  EXPECT_EQ(single(boolean, raw<uint8_t>(1)).get_bool("k"), true);
  EXPECT_THROW(single(boolean, raw<uint8_t>(2)).get_bool("k"), Error);
  EXPECT_THROW(single(u8, raw<uint8_t>(1)).get_bool("k"), Error);
  EXPECT_EQ(many(boolean, 2, std::string("\1\0", 2)).get_bools("k"),
            (std::vector<bool>{true, false}));
  EXPECT_THROW(many(boolean, 1, "\2").get_bools("k"), Error);
}

TEST_F(GgufValueTest, ATokenIdOfAllOnesMeansNone) {
  EXPECT_EQ(single(u32, raw(UINT32_MAX)).get_token_id("k"), std::nullopt);
  EXPECT_EQ(single(i32, raw<int32_t>(-1)).get_token_id("k"), std::nullopt);
  EXPECT_EQ(single(u32, raw<uint32_t>(0)).get_token_id("k"), 0u);
  EXPECT_THROW(single(u32, raw(1u << 31)).get_token_id("k"), Error);
  EXPECT_THROW(single(i32, raw<int32_t>(-2)).get_token_id("k"), Error);
  EXPECT_THROW(single(string, raw_string("0")).get_token_id("k"), Error);
}

TEST_F(GgufValueTest, StringsPointIntoTheFileAndKeepZeroBytes) {
  const std::string zero("a\0b", 3);
  EXPECT_EQ(single(string, raw_string(zero)).get_string("k"), zero);
  const auto strings = many(string, 3, raw_string(zero) + raw_string("") + raw_string("c"));
  EXPECT_EQ(strings.get_strings("k"), (std::vector<std::string_view>{zero, "", "c"}));
}

TEST_F(GgufValueTest, ArraysOfANarrowerTypeAreConvertedNotReinterpreted) {
  EXPECT_EQ(many(i8, 3, "\1\2\xff").get_integers("k"), (std::vector<int64_t>{1, 2, -1}));
  EXPECT_EQ(many(u16, 1, raw<uint16_t>(65'535)).get_integers("k"), (std::vector<int64_t>{65'535}));
  EXPECT_EQ(many(f64, 1, raw(0.25)).get_floats("k"), (std::vector<float>{0.25f}));
  EXPECT_THROW(many(i8, 4, "1234").get_floats("k"), Error);
  EXPECT_THROW(many(f32, 1, raw(1.0f)).get_integers("k"), Error);
  EXPECT_THROW(many(string, 1, raw_string("1")).get_integers("k"), Error);
  EXPECT_THROW(many(u64, 1, raw(UINT64_MAX)).get_integers("k"), Error);
  EXPECT_THROW(many(u32, 1, raw<uint32_t>(1)).get_strings("k"), Error);
}

TEST_F(GgufValueTest, APerLayerValueIsOneForAllOrExactlyOneEach) {
  EXPECT_EQ(single(u32, raw<uint32_t>(4)).get_unsigned_per_layer("k", 3),
            (std::vector<uint64_t>{4, 4, 4}));
  const std::string two = raw<int32_t>(1) + raw<int32_t>(2);
  EXPECT_EQ(many(i32, 2, two).get_unsigned_per_layer("k", 2), (std::vector<uint64_t>{1, 2}));
  EXPECT_THROW(many(i32, 2, two).get_unsigned_per_layer("k", 3), Error);
  EXPECT_THROW(many(i32, 1, raw<int32_t>(-1)).get_unsigned_per_layer("k", 1), Error);
}

TEST_F(GgufValueTest, AnAbsentKeyGivesNothing) {
  const GgufMetadata& metadata = single(u32, raw<uint32_t>(1));
  EXPECT_EQ(metadata.find("K"), nullptr);
  EXPECT_FALSE(metadata.get_unsigned("kk"));
  EXPECT_FALSE(metadata.get_float("kk"));
  EXPECT_FALSE(metadata.get_strings("kk"));
  EXPECT_FALSE(metadata.get_token_id("kk"));
  EXPECT_FALSE(metadata.get_unsigned_per_layer("kk", 2));
  EXPECT_THROW(metadata.require_strings("kk"), Error);
  EXPECT_THROW(metadata.require_string("kk"), Error);
}

TEST_F(GgufValueTest, DescriptionsShowTypeAndAShortValue) {
  const auto described = [](const GgufMetadata& metadata) {
    const GgufEntry& entry = metadata.entries()[0];
    return describe_type(entry) + " " + describe_value(entry, 20);
  };
  EXPECT_EQ(described(single(f32, raw(1e-5f))), "f32 1e-05");
  EXPECT_EQ(described(single(boolean, raw<uint8_t>(1))), "bool true");
  EXPECT_EQ(described(single(string, raw_string("a\nb\x07"))), "string a\\nb\\x07");
  EXPECT_EQ(described(single(string, raw_string(std::string(99, 'x')))),
            "string xxxxxxxxxxxxxxxxxxxx...");
  EXPECT_EQ(described(many(i16, 2, raw<int16_t>(-1) + raw<int16_t>(2))), "i16[2] [-1, 2]");
  EXPECT_EQ(described(many(u8, 99, std::string(99, '\1'))), "u8[99] [1, 1, 1, 1, 1, 1, 1, ...]");
  EXPECT_EQ(described(many(string, 0, "")), "string[0] []");
}

TEST(Printable, KeepsUtf8AndEscapesControlAndMalformedBytes) {
  EXPECT_EQ(printable("é€😀"), "é€😀");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                             // cut
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");                    // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(printable("\x7f\t"), "\\x7f\\x09");
  EXPECT_EQ(printable(std::string(10, '\x80'), 8), "\\x80\\x80...");
}

}  // namespace
}  // namespace arion
