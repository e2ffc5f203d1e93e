// The vectors of all levels give equal bits, and exp is as good as its comment says.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/half.h"
#include "cpu/cpu_kernels.h"

namespace arion::test {

int record_generic(const float* floats, const int32_t* ints, int sets, uint32_t* out);
int record_avx2(const float* floats, const int32_t* ints, int sets, uint32_t* out);
int record_avxvnni(const float* floats, const int32_t* ints, int sets, uint32_t* out);
int record_avx512(const float* floats, const int32_t* ints, int sets, uint32_t* out);

namespace {

constexpr int kSets = 400;

// Every kind of float: special values, halfway cases of the narrower formats, any exponent.
std::vector<float> hard_floats() {
  std::mt19937_64 random(5);
  const float infinity = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f,     -0.0f,       infinity,    -infinity,    std::nanf(""),
                           65504.0f, 65519.0f,    65520.0f,    -1e9f,        1e-40f,
                           3e-8f,    88.7228f,    88.73f,      -87.3365f,    -87.34f,
                           2.5f,     3.5f,        -0.5f,       2147483520.f, -2147483648.f,
                           1e20f,    1.00390625f, 1.01171875f, 2049.0f,      1e-38f};
  std::vector<float> floats(kSets * 32);
  for (size_t i = 0; i < floats.size(); ++i) {
    switch (random() % 4) {
      case 0:
        floats[i] = special[random() % std::size(special)];
        break;
      case 1:
        floats[i] = std::bit_cast<float>(static_cast<uint32_t>(random()));
        break;
      default:
        floats[i] = static_cast<float>(static_cast<int>(random() % 20000) - 10000) / 97.0f;
    }
    // The last hundred sets hold plain values only, so that whole int8 blocks are finite.
    if (i >= (kSets - 100) * 32) floats[i] = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  }
  return floats;
}

std::vector<int32_t> hard_ints() {
  std::mt19937_64 random(6);
  std::vector<int32_t> ints(kSets * 32);
  for (int32_t& i : ints) {
    i = static_cast<int32_t>(random()) >> (random() % 32);
    if (random() % 16 == 0) i = std::numeric_limits<int32_t>::min();
  }
  return ints;
}

std::vector<uint32_t> record(int (*function)(const float*, const int32_t*, int, uint32_t*)) {
  std::vector<uint32_t> out(kSets * 16 * 400);
  out.resize(function(hard_floats().data(), hard_ints().data(), kSets, out.data()));
  return out;
}

void expect_same_bits(IsaLevel level,
                      int (*function)(const float*, const int32_t*, int, uint32_t*)) {
  if (std::ranges::find(supported_isa_levels(), level) == supported_isa_levels().end()) {
    GTEST_SKIP() << "this processor has no " << isa_name(level);
  }
  const std::vector<uint32_t> want = record(record_generic), got = record(function);
  ASSERT_EQ(got.size(), want.size());
  const size_t per_set = want.size() / kSets;
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i], want[i]) << "set " << i / per_set << ", vector " << i % per_set / 16
                               << ", lane " << i % 16;
  }
}

TEST(Simd, Avx2EqualsGeneric) {
  expect_same_bits(IsaLevel::avx2, record_avx2);
}
TEST(Simd, AvxVnniEqualsGeneric) {
  expect_same_bits(IsaLevel::avxvnni, record_avxvnni);
}
TEST(Simd, Avx512EqualsGeneric) {
  expect_same_bits(IsaLevel::avx512, record_avx512);
}

// Vectors 16 and 21-26 of every set, see record_floats.
TEST(Simd, ExpIsWithinTwoUlpAndHalvesRoundAsTheScalarFunctions) {
  const std::vector<uint32_t> got = record(record_generic);
  const std::vector<float> floats = hard_floats();
  const size_t per_set = got.size() / kSets;
  for (int set = 0; set < kSets; ++set) {
    const uint32_t* vectors = got.data() + static_cast<size_t>(set) * per_set;
    for (int i = 0; i < 16; ++i) {
      const float x = floats[set * 32 + i];
      const float y = std::bit_cast<float>(vectors[16 * 16 + i]);
      const double want = x < -87.3365f ? 0.0 : std::exp(double{x});
      if (std::isnan(x)) {
        EXPECT_TRUE(std::isnan(y));
      } else if (want > std::numeric_limits<float>::max()) {
        EXPECT_EQ(y, std::numeric_limits<float>::infinity()) << x;
      } else {
        EXPECT_NEAR(y, want, want * 0x1p-22 + 0x1p-149) << x;
      }
      EXPECT_EQ(vectors[25 * 16 + i], vectors[26 * 16 + i]) << x;
      const auto* halves = reinterpret_cast<const uint16_t*>(vectors + 21 * 16);
      const auto* brains = reinterpret_cast<const uint16_t*>(vectors + 23 * 16);
      const float limited = std::isnan(x) ? x : std::clamp(x, -65504.0f, 65504.0f);
      EXPECT_EQ(half_to_float(halves[i]) == half_to_float(float_to_half(limited)), !std::isnan(x))
          << x;
      EXPECT_EQ(brains[i], float_to_bfloat16(x)) << x;
    }
  }
}

}  // namespace
}  // namespace arion::test
