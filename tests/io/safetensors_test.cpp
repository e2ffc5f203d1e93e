// Safetensors headers: what is read, and what is refused with which words.
#include "io/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"

namespace arion {
namespace {

std::string file(const std::string& header, size_t data_bytes) {
  const uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + std::string(data_bytes, 'x');
}

std::vector<SafetensorsTensor> parse_header(const std::string& bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes)), "test");
}

void expect_refused(const std::string& bytes, const std::string& words) {
  try {
    parse_header(bytes);
    ADD_FAILURE() << "accepted, expected: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(Safetensors, TensorsComeByOffset) {
  const std::string bytes = file(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,1],"data_offsets":[2,10]},)"
      R"("a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]},"e":{"dtype":"U8","shape":[0],)"
      R"("data_offsets":[2,2]}}  )",
      10);
  const auto tensors = parse_header(bytes);
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0].name, "a");
  EXPECT_TRUE(tensors[0].shape.empty());
  EXPECT_EQ(tensors[1].name, "e");
  EXPECT_EQ(tensors[2].name, "b");
  EXPECT_EQ(tensors[2].dtype, "F32");
  EXPECT_EQ(tensors[2].shape, (std::vector<uint64_t>{2, 1}));
  EXPECT_EQ(tensors[2].data.size(), 8u);
}

TEST(Safetensors, NamesWhatIsWrong) {
  const auto one = [](const std::string& entry, size_t bytes) {
    return file(R"({"w":)" + entry + "}", bytes);
  };
  expect_refused("1234567", "too short");
  expect_refused(file("[]", 0), "does not start with");
  expect_refused(file("{", 0), "not valid JSON at byte 2");
  expect_refused(std::string(8, '\xff'), "the header is said to have");
  expect_refused(file(R"({"__metadata__":{"a":1}})", 0), "__metadata__");
  expect_refused(one("3", 0), "tensor w has no entry");
  expect_refused(one(R"({"dtype":"F31","shape":[1],"data_offsets":[0,4]})", 4), "unknown type");
  expect_refused(one(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", 4), "whole number");
  expect_refused(one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})", 8),
                 "its shape needs 4");
  expect_refused(one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})", 8), "follows a gap");
  expect_refused(one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})", 5), "behind the last");
  expect_refused(one(R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]})", 0),
                 "overflows");
  expect_refused(file(R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                      R"("w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                      1),
                 "occurs twice");
  expect_refused(file(R"({"v":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                      R"("w":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                      3),
                 "overlaps");
  expect_refused(file(std::string(100, '[') + std::string(100, ']'), 0), "does not start");
  std::string deep = R"({"w":)";
  for (int i = 0; i < 100; ++i) deep += R"({"a":)";
  expect_refused(file(deep + "1" + std::string(101, '}'), 0), "nested");
}

// The headers of case 082.
TEST(Safetensors, HostileHeadersAreRefused) {
  for (const std::string header :
       {"[]", "null", "{", R"({"a":1})", R"({"a":{}})", R"({"a":{"dtype":"F32","shape":[2]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,9]}})",
        R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":"2","data_offsets":[0,8]}})",
        R"({"a":{"dtype":7,"shape":[2],"data_offsets":[0,8]}})",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "\xff\xfe{}",
        R"({"a":{"dtype":"Q9_Z","shape":[2],"data_offsets":[1152921504606846976,)"
        R"(1152921504606846984]}})"}) {
    EXPECT_THROW(parse_header(file(header, 8)), Error) << header;
  }
  EXPECT_THROW(parse_header(file(std::string(200000, '['), 8)), Error);
  for (const uint64_t length : {UINT64_MAX, uint64_t{1} << 40}) {
    std::string bytes = file("{}", 0);
    std::memcpy(bytes.data(), &length, sizeof length);
    EXPECT_THROW(parse_header(bytes), Error) << length;
  }
  EXPECT_THROW(parse_header(""), Error);
  EXPECT_THROW(parse_header(std::string("\x02\0\0", 3)), Error);
}

}  // namespace
}  // namespace arion
