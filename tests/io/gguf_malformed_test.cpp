// Malformed files are refused with a message that says what is wrong.
#include <gtest/gtest.h>

#include "io/malformed_gguf.h"

namespace arion {
namespace {

class MalformedGguf : public testing::TestWithParam<test::Malformed> {};

TEST_P(MalformedGguf, IsRefusedAndTheMessageNamesFileAndReason) {
  const std::string message = test::refusal(GetParam().bytes);
  EXPECT_NE(message.find("test.gguf: "), std::string::npos) << message;
  EXPECT_NE(message.find(GetParam().says), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Gguf, MalformedGguf, testing::ValuesIn(test::all_malformed()),
                         [](const auto& info) { return info.param.name; });

TEST(GgufLimitsTest, TheLongestAllowedNameAndKeyAreAccepted) {
  const std::string key(65'535, 'k');
  const std::string name(63, 'n');
  const test::RawGguf file = {.entries = {test::raw_entry(key, GgufType::u8, "1")},
                              .tensors = {test::raw_tensor(name, {16}, 0, 0)}};
  const std::string bytes = file.bytes();
  const GgufFile parsed = test::parse(bytes);
  EXPECT_TRUE(parsed.metadata().has(key));
  EXPECT_NE(parsed.find_tensor(name), nullptr);
}

TEST(GgufLimitsTest, EveryAlignmentFrom8To65536PlacesTheDataThere) {
  for (uint32_t alignment = 8; alignment <= 65'536; alignment *= 2) {
    test::RawGguf file = test::with_alignment(GgufType::u32, test::raw(alignment));
    file.alignment = alignment;
    file.tensors = {test::raw_tensor("a", {1}, 0, 0), test::raw_tensor("b", {1}, 0, alignment)};
    file.data_bytes = 2 * alignment;
    const std::string bytes = file.bytes();
    const GgufFile parsed = test::parse(bytes);
    const auto begin = reinterpret_cast<const std::byte*>(bytes.data());
    const auto at = parsed.require_tensor("b").data.data() - begin;
    EXPECT_EQ(at % alignment, 0) << alignment;
    EXPECT_EQ(parsed.require_tensor("b").data[0], std::byte{1});
  }
}

TEST(GgufLimitsTest, Version2IsReadLikeVersion3) {
  const std::string bytes = test::RawGguf{.version = 2}.bytes();
  EXPECT_EQ(test::parse(bytes).version(), 2u);
}

TEST(GgufLimitsTest, ControlBytesOfTheFileDoNotReachTheMessage) {
  const std::string name = "\x1b[31m\xff\xc2\x9b";
  const std::string message =
      test::refusal(test::with_tensors({test::raw_tensor(name, {1, 0}, 0, 0)}).bytes());
  EXPECT_NE(message.find("\\x1b[31m\\xff\\xc2\\x9b"), std::string::npos) << message;
}

}  // namespace
}  // namespace arion
