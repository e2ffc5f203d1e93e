// Hostile files must not make the reader allocate: every operator new of this program is watched.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "io/malformed_gguf.h"

namespace {

// Bytes per single allocation and in sum; sizes of releases are not known, so sums only grow.
thread_local size_t largest_bytes = 0;
thread_local size_t total_bytes = 0;

void* watched(size_t bytes) {
  largest_bytes = std::max(largest_bytes, bytes);
  total_bytes += bytes;
  if (void* memory = std::malloc(std::max<size_t>(bytes, 1))) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(size_t bytes) {
  return watched(bytes);
}
void* operator new[](size_t bytes) {
  return watched(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}

namespace arion {
namespace {

TEST(GgufMemory, NoMalformedFileCausesAnAllocationBeyondItsOwnScale) {
  for (const test::Malformed& file : test::all_malformed()) {
    SCOPED_TRACE(file.name);
    largest_bytes = total_bytes = 0;
    EXPECT_FALSE(test::refusal(file.bytes).empty());
    EXPECT_LE(largest_bytes, 4'096 + 8 * file.bytes.size());
    EXPECT_LE(total_bytes, 16'384 + 32 * file.bytes.size());
  }
}

TEST(GgufMemory, AMillionTensorsStayUnderTheLimits) {
  std::string bytes = test::RawGguf{.data_bytes = 0, .tensor_count = GgufLimits::kTensors}.bytes();
  bytes.resize(24);
  bytes.reserve(96u << 20);
  for (uint64_t i = 0; i < GgufLimits::kTensors; ++i) {
    bytes += test::raw_tensor(std::to_string(i), {8}, 0, 32 * i);
  }
  bytes.append(32 - bytes.size() % 32 + 32 * GgufLimits::kTensors, '\0');
  largest_bytes = total_bytes = 0;
  const GgufFile file = test::parse(bytes);
  EXPECT_EQ(file.tensors().size(), GgufLimits::kTensors);
  EXPECT_LE(largest_bytes, std::max<size_t>(64u << 20, 2 * bytes.size()));
  EXPECT_LE(total_bytes, 256u << 20);
}

TEST(GgufMemory, AnArrayBeyondAnyVocabularyIsNotDecoded) {
  const uint64_t count = GgufMetadata::kMaxDecoded + 1;
  const std::string bytes =
      test::with_entry(test::raw_array("k", GgufType::u8, count, std::string(count, '\1'))).bytes();
  const GgufFile file = test::parse(bytes);
  largest_bytes = 0;
  EXPECT_THROW(file.metadata().get_integers("k"), Error);
  EXPECT_LE(largest_bytes, 4'096u);
  EXPECT_EQ(file.metadata().find("k")->payload.size(), count);
}

}  // namespace
}  // namespace arion
