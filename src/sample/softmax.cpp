// An exp of its own and sums by chunks, so that neither libm nor the compiler shows.
#include "sample/softmax.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace arion {
namespace {

constexpr size_t kLanes = 16;
constexpr size_t kChunk = 4096;

constexpr float kLog2E = 0x1.715476p+0f;
// ln 2 in two parts; the first has 9 bits, so that its product with an exponent is exact.
constexpr float kLn2High = 0x1.63p-1f;
constexpr float kLn2Low = -0x1.bd0106p-13f;
// Adding and subtracting 1.5 * 2^23 rounds to the nearest integer and leaves it in the low bits.
constexpr float kRound = 0x1.8p+23f;
constexpr uint32_t kSmallestBits = std::bit_cast<uint32_t>(-87.0f);  // e^-87 is a normal number
constexpr uint32_t kLeast = 0x00b33687;                              // that number

// Comparisons are made on bits, as integers: compilers keep those free of branches, so that loops
// over the kernel become vector code.
inline float exp_kernel(float x) {
  // Of floats <= 0, the one with the larger bits is the smaller number.
  const float clamped = std::bit_cast<float>(std::min(std::bit_cast<uint32_t>(x), kSmallestBits));
  const float shifted = clamped * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (clamped - n * kLn2High) - n * kLn2Low;  // |r| <= ln 2 / 2
  // Taylor coefficients 1/k!: the first one left out is below 2^-27 of the result.
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = (p * r) * r + r;
  const float scale = std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) << 23) + 0x3f800000u);
  const uint32_t result = std::bit_cast<uint32_t>(p * scale + scale);
  return std::bit_cast<float>(result > kLeast ? result : 0u);
}

// 16 lanes by ascending index, then folded by halves.
float sum_lanes(std::span<const float> summands) {
  std::array<float, kLanes> lanes{};
  size_t id = 0;
  for (; id + kLanes <= summands.size(); id += kLanes) {
    for (size_t i = 0; i < kLanes; ++i) lanes[i] += summands[id + i];
  }
  for (size_t i = 0; id + i < summands.size(); ++i) lanes[i] += summands[id + i];
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

// Summands of one chunk into `out`, and their sum. Vector code, as no loop has branches.
float sum_chunk(std::span<const float> chunk, float peak, float temperature, float* out) {
  for (size_t i = 0; i < chunk.size(); ++i) out[i] = exp_kernel((chunk[i] - peak) / temperature);
  return sum_lanes({out, chunk.size()});
}

// Calls use(begin, chunk) for the absolute chunks of a row.
template <typename Use>
void for_each_chunk(std::span<const float> logits, const Use& use) {
  for (size_t begin = 0; begin < logits.size(); begin += kChunk) {
    use(begin, logits.subspan(begin, std::min(kChunk, logits.size() - begin)));
  }
}

}  // namespace

float exp_nonpositive(float x) {
  return exp_kernel(x);
}

double sum_exp(std::span<const float> logits, float peak, float temperature) {
  std::array<float, kChunk> scratch;
  double total = 0;
  for_each_chunk(logits, [&](size_t, std::span<const float> chunk) {
    total += static_cast<double>(sum_chunk(chunk, peak, temperature, scratch.data()));
  });
  return total;
}

double sum_exp(std::span<const float> logits, float peak, float temperature,
               std::vector<float>& summands) {
  summands.resize(logits.size());
  double total = 0;
  for_each_chunk(logits, [&](size_t begin, std::span<const float> chunk) {
    total += static_cast<double>(sum_chunk(chunk, peak, temperature, &summands[begin]));
  });
  return total;
}

ExpMoments sum_exp_moments(std::span<const float> logits, float peak, float temperature) {
  // Below this e^x is 0, and a product with -infinity must not spoil the sum.
  constexpr float kLeastX = -88.0f;
  std::array<float, kChunk> scratch;
  ExpMoments result;
  for_each_chunk(logits, [&](size_t, std::span<const float> chunk) {
    result.sum += static_cast<double>(sum_chunk(chunk, peak, temperature, scratch.data()));
    int count = 0;
    for (size_t i = 0; i < chunk.size(); ++i) {
      const float x = (chunk[i] - peak) / temperature;
      scratch[i] *= x > kLeastX ? x : kLeastX;
      count += chunk[i] >= std::numeric_limits<float>::lowest() ? 1 : 0;
    }
    result.weighted += static_cast<double>(sum_lanes({scratch.data(), chunk.size()}));
    result.count += static_cast<size_t>(count);
  });
  return result;
}

}  // namespace arion
