// The hash that finds damage: every byte and the length count.
#include "base/bulk_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace arion {
namespace {

std::vector<std::byte> some_bytes(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 37 + i / 256);
  return bytes;
}

TEST(BulkHash, EveryFlippedBitChangesIt) {
  std::vector<std::byte> bytes = some_bytes(200);
  std::set<uint64_t> seen = {bulk_hash(bytes)};
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const auto mask = static_cast<std::byte>(1 << bit % 8);
    bytes[bit / 8] ^= mask;
    EXPECT_TRUE(seen.insert(bulk_hash(bytes)).second) << "bit " << bit;
    bytes[bit / 8] ^= mask;
  }
}

TEST(BulkHash, ZerosAtTheEndCount) {
  std::set<uint64_t> seen;
  const std::vector<std::byte> zeros(200);
  for (size_t i = 0; i <= zeros.size(); ++i) {
    EXPECT_TRUE(seen.insert(bulk_hash(std::span(zeros).first(i))).second) << i;
  }
}

TEST(BulkHash, WordsThatChangePlacesChangeIt) {
  std::vector<std::byte> bytes = some_bytes(256);
  const uint64_t before = bulk_hash(bytes);
  std::swap_ranges(bytes.begin(), bytes.begin() + 64, bytes.begin() + 64);  // same lanes
  EXPECT_NE(bulk_hash(bytes), before);
  std::swap_ranges(bytes.begin(), bytes.begin() + 64, bytes.begin() + 64);
  EXPECT_EQ(bulk_hash(bytes), before);
  std::swap_ranges(bytes.begin(), bytes.begin() + 8, bytes.begin() + 8);  // other lanes
  EXPECT_NE(bulk_hash(bytes), before);
}

}  // namespace
}  // namespace arion
