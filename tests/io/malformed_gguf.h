// The malformed files: what is wrong with each, and what the refusal must say.
#pragma once
#include <string>
#include <vector>

#include "io/raw_gguf.h"

namespace arion::test {

struct Malformed {
  std::string name;
  std::string bytes;
  std::string says;  // part of the message
};

inline RawGguf with_entry(std::string entry) {
  return {.entries = {std::move(entry)}};
}

inline RawGguf with_alignment(GgufType type, std::string value) {
  return with_entry(raw_entry("general.alignment", type, value));
}

inline RawGguf with_tensors(std::vector<std::string> tensors, size_t data_bytes = 64) {
  return {.tensors = std::move(tensors), .data_bytes = data_bytes};
}

inline std::vector<Malformed> malformed_headers() {
  constexpr uint64_t kNegative = 1ull << 63;
  const std::string good = RawGguf{}.bytes();
  const auto with_counts = [](uint64_t tensors, uint64_t entries) {
    return RawGguf{.entry_count = entries, .tensor_count = tensors}.bytes();
  };
  const std::string big_endian = "GGUF" + std::string("\0\0\0\3", 4) + good.substr(8);
  return {
      {"Empty", "", "truncated"},
      {"MagicOnly", "GGUF", "truncated"},
      {"WrongMagic", "GGUX" + good.substr(4), "expected 'GGUF'"},
      {"Version0", RawGguf{.version = 0}.bytes(), "version 0, expected 2 or 3"},
      {"Version1", RawGguf{.version = 1}.bytes(), "version 1, expected 2 or 3"},
      {"Version4", RawGguf{.version = 4}.bytes(), "version 4, expected 2 or 3"},
      {"BigEndian", big_endian, "byte order"},
      {"CutInTheCounts", good.substr(0, 20), "truncated"},
      {"TensorCountNegative", with_counts(kNegative, 0), "tensors announced, at most"},
      {"TensorCountOverTheLimit", with_counts(1'000'001, 0), "tensors announced, at most"},
      {"TensorCountBeyondTheFile", with_counts(1'000'000, 0), "bytes follow"},
      {"EntryCountNegative", with_counts(0, kNegative), "entries announced, at most"},
      {"EntryCountOverTheLimit", with_counts(0, 65'537), "entries announced, at most"},
      {"EntryCountBeyondTheFile", with_counts(0, 65'536), "bytes follow"},
  };
}

inline std::vector<Malformed> malformed_metadata() {
  using enum GgufType;
  const std::string one = raw_entry("k", u32, raw<uint32_t>(1));
  const auto alignment = [](uint32_t value) { return with_alignment(u32, raw(value)).bytes(); };
  const auto type_number = [](uint32_t n) { return static_cast<GgufType>(n); };
  const std::string key_length_huge = raw(UINT64_MAX) + "key";
  const std::string says_alignment = "power of two in [8, 65536]";
  return {
      {"EmptyKey", with_entry(raw_entry("", u32, raw<uint32_t>(1))).bytes(), "key is empty"},
      {"KeyLengthHuge", with_entry(key_length_huge).bytes(), "at most 65535"},
      {"KeyOf64KiB", with_entry(raw_entry(std::string(65'536, 'k'), u8, "1")).bytes(),
       "at most 65535"},
      {"KeyBeyondTheFile", with_entry(raw<uint64_t>(60'000) + "key").bytes(), "truncated"},
      {"DuplicateKey", RawGguf{.entries = {one, one}}.bytes(), "'k' occurs twice"},
      {"UnknownType", with_entry(raw_entry("k", type_number(13), "1234")).bytes(), "type 13"},
      {"TypeHuge", with_entry(raw_entry("k", type_number(UINT32_MAX), "1234")).bytes(),
       "type 4294967295"},
      {"UnknownElementType", with_entry(raw_array("k", type_number(13), 1, "1")).bytes(),
       "type 13"},
      {"NestedArray", with_entry(raw_array("k", array, 1, "1234")).bytes(), "array of arrays"},
      {"ArrayLengthNegative", with_entry(raw_array("k", u8, 1ull << 63, "1")).bytes(),
       "elements, at most"},
      {"ArrayLengthOverTheLimit", with_entry(raw_array("k", u8, (64u << 20) + 1, "1")).bytes(),
       "elements, at most"},
      {"ArrayBeyondTheFile", with_entry(raw_array("k", u64, 64u << 20, "1")).bytes(), "truncated"},
      {"StringArrayBeyondTheFile", with_entry(raw_array("k", string, 1000, "")).bytes(), "string"},
      {"StringLengthNegative", with_entry(raw_entry("k", string, raw(1ull << 63))).bytes(),
       "at most 67108864"},
      {"StringOverTheLimit", with_entry(raw_entry("k", string, raw((64ull << 20) + 1))).bytes(),
       "at most 67108864"},
      {"StringBeyondTheFile", with_entry(raw_entry("k", string, raw<uint64_t>(1000))).bytes(),
       "truncated"},
      {"AlignmentZero", alignment(0), says_alignment},
      {"AlignmentTooSmall", alignment(4), says_alignment},
      {"AlignmentNoPowerOfTwo", alignment(48), says_alignment},
      {"AlignmentTooLarge", alignment(131'072), says_alignment},
      {"AlignmentHuge", alignment(1u << 31), says_alignment},
      {"AlignmentOfAnotherType", with_alignment(u64, raw<uint64_t>(32)).bytes(), says_alignment},
      {"AlignmentText", with_alignment(string, raw_string("32")).bytes(), says_alignment},
  };
}

inline std::vector<Malformed> malformed_tensors() {
  constexpr uint32_t kF32 = 0, kF16 = 1, kQ4_0 = 2, kF64 = 28;
  const auto tensor = [](const std::vector<uint64_t>& dims, uint32_t type, uint64_t offset = 0) {
    return with_tensors({raw_tensor("t", dims, type, offset)}).bytes();
  };
  const auto two = [](const std::string& name, uint64_t offset) {
    return with_tensors({raw_tensor("a", {8}, kF32, 0), raw_tensor(name, {8}, kF32, offset)})
        .bytes();
  };
  const std::string dims_huge = raw_string("t") + raw(UINT32_MAX) + std::string(64, '\1');
  const std::string exact = with_tensors({raw_tensor("t", {16}, kF32, 0)}).bytes();
  std::vector<Malformed> cases = {
      {"EmptyName", with_tensors({raw_tensor("", {1}, kF32, 0)}).bytes(), "name is empty"},
      {"NameOf64Bytes", with_tensors({raw_tensor(std::string(64, 'n'), {1}, kF32, 0)}).bytes(),
       "at most 63"},
      {"DuplicateName", two("a", 32), "tensor a occurs twice"},
      {"NoDimension", tensor({}, kF32), "0 dimensions"},
      {"FiveDimensions", tensor({2, 1, 1, 1, 1}, kF32), "5 dimensions"},
      {"NineDimensions", tensor(std::vector<uint64_t>(9, 1), kF32), "9 dimensions"},
      {"DimensionCountHuge", with_tensors({dims_huge}).bytes(), "4294967295 dimensions"},
      {"ZeroDimension", tensor({1, 0}, kF32), "has a zero"},
      {"ZeroTimesHuge", tensor({0, 1ull << 40}, kQ4_0), "has a zero"},
      {"ZeroAfterOverflow", tensor({1ull << 60, 1ull << 60, 0}, kF32), "has a zero"},
      {"DimensionNegative", tensor({1ull << 63}, kF32), "overflows"},
      {"ProductWrapsToZero", tensor({1ull << 32, 1ull << 32}, kF32), "overflows"},
      {"ProductOverflowsSigned", tensor({1ull << 32, 1ull << 31}, kF32), "overflows"},
      {"BytesWrapToZero", tensor({1ull << 62}, kF32), "does not fit"},
      {"BytesWrapToSmall", tensor({(1ull << 62) + 1}, kF32), "does not fit"},
      {"PaddingWraps", tensor({(1ull << 61) - 1}, kF64), "does not fit"},
      {"LargerThanTheFile", tensor({1u << 20}, kF16), "does not fit"},
      {"RowNotWholeBlocks", tensor({33}, kQ4_0), "not a multiple of the 32"},
      {"UnknownType43", tensor({32}, 43), "type 43 is unknown"},
      {"UnknownTypeHuge", tensor({32}, UINT32_MAX), "is unknown"},
      {"FirstOffsetNotZero", tensor({1}, kF32, 32), "expected 0"},
      {"OffsetLeavesGap", two("b", 64), "offset is 64, expected 32"},
      {"OffsetOverlaps", two("b", 0), "offset is 0, expected 32"},
      {"OffsetNotPadded", two("b", 33), "offset is 33, expected 32"},
      {"OffsetHuge", two("b", UINT64_MAX), "expected 32"},
      {"LastByteMissing", exact.substr(0, exact.size() - 1), "it is truncated"},
      {"NoDataAtAll", with_tensors({raw_tensor("t", {16}, kF32, 0)}, 0).bytes(), "truncated"},
      {"CutInTheTensorList", exact.substr(0, 40), "truncated"},
  };
  for (const uint32_t type : {4, 5, 31, 32, 33, 36, 37, 38}) {
    cases.push_back({"RemovedType" + std::to_string(type), tensor({256}, type), "was removed"});
  }
  for (const uint32_t type : {133, 135, 144, 158, 202, 399}) {
    cases.push_back({"ForkType" + std::to_string(type), tensor({256}, type), "fork"});
  }
  return cases;
}

inline std::vector<Malformed> all_malformed() {
  std::vector<Malformed> all = malformed_headers();
  for (auto part : {malformed_metadata(), malformed_tensors()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace arion::test
