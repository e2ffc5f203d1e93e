// Size, layout, poison and copies of a KV group's memory.
#include "cache/kv_storage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/half.h"

namespace arion {
namespace {

KvGroupSpec small(DType type) {
  return {.layers = 2, .kv_heads = 3, .head_dim = 4, .window = 0, .type = type};
}

float first_value(const KvView& kv, int layer, BlockId block, int head) {
  const std::byte* at = kv.values(layer, block, head);
  if (kv.type == DType::f32) {
    float value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return kv.type == DType::f16 ? half_to_float(bits) : bfloat16_to_float(bits);
}

TEST(KvStorage, HoldsEveryLayerOfEveryBlock) {
  const KvStorage storage(small(DType::f16), 5);
  EXPECT_EQ(storage.bytes(), 5 * storage.spec().block_bytes());
  EXPECT_EQ(storage.view().layer_bytes() * 2, storage.bytes());
  const KvView kv = storage.view();
  EXPECT_EQ(kv.values(1, 4, 2) + kv.half_bytes(), kv.base + storage.bytes()) << "the last half";
}

TEST(KvStorage, PoisonIsNanInEveryType) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    KvStorage storage(small(type), 3);
    EXPECT_EQ(first_value(storage.view(), 1, 2, 2), 0.0f);
    storage.poison_block(2);
    EXPECT_TRUE(std::isnan(first_value(storage.view(), 0, 2, 0)));
    EXPECT_TRUE(std::isnan(first_value(storage.view(), 1, 2, 2)));
    EXPECT_EQ(first_value(storage.view(), 1, 1, 2), 0.0f) << "other blocks keep their bits";
    storage.poison();
    EXPECT_TRUE(std::isnan(first_value(storage.view(), 1, 1, 2)));
  }
}

TEST(KvStorage, CopiesABlockInAllLayers) {
  KvStorage storage(small(DType::f32), 2);
  storage.poison_block(0);
  storage.copy_block(0, 1);
  EXPECT_TRUE(std::isnan(first_value(storage.view(), 0, 1, 0)));
  EXPECT_TRUE(std::isnan(first_value(storage.view(), 1, 1, 2)));
}

TEST(KvStorage, RefusesImpossibleShapes) {
  EXPECT_THROW(KvStorage(KvGroupSpec{.layers = 0, .kv_heads = 1, .head_dim = 1}, 1), Error);
  EXPECT_THROW(KvStorage(small(DType::f16), 0), Error);
  const int big = 1 << 30;
  EXPECT_THROW(KvStorage(KvGroupSpec{.layers = big, .kv_heads = big, .head_dim = big}, big), Error);
}

}  // namespace
}  // namespace arion
