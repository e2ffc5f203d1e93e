// Four floats at a time, on any processor.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace arion {

using Quad = float __attribute__((vector_size(16)));
using QuadMask = int32_t __attribute__((vector_size(16)));

inline constexpr int kQuadLanes = 4;

// By this operator a comparison of the two becomes one minimum or maximum, by masks four steps.
inline Quad select(QuadMask mask, Quad yes, Quad no) {
  return mask ? yes : no;
}

inline bool any(QuadMask mask) {
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}

inline Quad magnitude(Quad x) {
  return reinterpret_cast<Quad>(reinterpret_cast<QuadMask>(x) & 0x7fffffff);
}

inline Quad square_root(Quad x) {
  return Quad{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])};
}

// x where it is at least `low` and at most `high`; an unordered x becomes a bound.
inline Quad clamp(Quad x, float low, float high) {
  const Quad bottom = Quad{} + low, top = Quad{} + high;
  const Quad raised = select(x > bottom, x, bottom);
  return select(raised < top, raised, top);
}

// Nearest whole number, ties to even, for magnitudes below 2^22: adding 1.5 * 2^23 drops the
// fraction.
inline Quad nearest(Quad x) {
  return (x + 12582912.0f) - 12582912.0f;
}

// Nearest whole number, halves away from zero, for magnitudes below 2^31.
inline QuadMask round_half_away(Quad x) {
  const QuadMask whole = __builtin_convertvector(x, QuadMask);
  const Quad rest = x - __builtin_convertvector(whole, Quad);
  return whole - (rest >= 0.5f) + (rest <= -0.5f);  // masks are -1 where they hold
}

inline Quad load_quad(const float* x) {
  Quad out;
  std::memcpy(&out, x, sizeof out);
  return out;
}

// 16 numbers of 0 to 255 as bytes. Halving the width twice is what compilers do in few steps.
inline void store_bytes(const QuadMask* numbers, uint8_t* bytes) {
  using Words = int32_t __attribute__((vector_size(32)));
  using Halves = int16_t __attribute__((vector_size(32)));
  using HalfOfThem = int16_t __attribute__((vector_size(16)));
  using Bytes = uint8_t __attribute__((vector_size(16)));
  HalfOfThem parts[2];
  for (int i = 0; i < 2; ++i) {
    Words words;
    std::memcpy(&words, numbers + 2 * i, sizeof words);
    parts[i] = __builtin_convertvector(words, HalfOfThem);
  }
  Halves halves;
  std::memcpy(&halves, parts, sizeof halves);
  const Bytes narrow = __builtin_convertvector(halves, Bytes);
  std::memcpy(bytes, &narrow, sizeof narrow);
}

inline float sum_of(Quad x) {
  return (x[0] + x[1]) + (x[2] + x[3]);
}

// The largest magnitude of `count` values, a multiple of kQuadLanes.
inline float largest_magnitude(const float* x, int count) {
  Quad largest{};
  for (int i = 0; i < count; i += kQuadLanes) {
    const Quad size = magnitude(load_quad(x + i));
    largest = select(size > largest, size, largest);
  }
  const float low = largest[0] > largest[1] ? largest[0] : largest[1];
  const float high = largest[2] > largest[3] ? largest[2] : largest[3];
  return low > high ? low : high;
}

}  // namespace arion
