// 16 lanes as plain arrays, for any processor. See simd.h for what each function means.
#pragma once
#include <bit>
#include <cstring>

#include "base/half.h"
#include "cpu/simd/inline.h"

namespace arion::cpu::ARION_ISA {
namespace {

struct Mask {
  bool lane[16];
};

struct I32 {
  int32_t lane[16];

  static ARION_INLINE I32 set1(int32_t x) {
    I32 v;
    for (int32_t& lane : v.lane) lane = x;
    return v;
  }
  static ARION_INLINE I32 zero() { return set1(0); }
  static ARION_INLINE I32 load(const int32_t* p) {
    I32 v;
    std::memcpy(v.lane, p, sizeof v.lane);
    return v;
  }
  static ARION_INLINE I32 load_first(const int32_t* p, int n) {
    I32 v = zero();
    for (int i = 0; i < n; ++i) v.lane[i] = p[i];
    return v;
  }
  ARION_INLINE void store(int32_t* p) const { std::memcpy(p, lane, sizeof lane); }
  ARION_INLINE void store_first(int32_t* p, int n) const {
    for (int i = 0; i < n; ++i) p[i] = lane[i];
  }
};

struct F32 {
  float lane[16];

  static ARION_INLINE F32 set1(float x) {
    F32 v;
    for (float& lane : v.lane) lane = x;
    return v;
  }
  static ARION_INLINE F32 zero() { return set1(0.0f); }
  static ARION_INLINE F32 load(const float* p) {
    F32 v;
    std::memcpy(v.lane, p, sizeof v.lane);
    return v;
  }
  static ARION_INLINE F32 load_first(const float* p, int n) {
    F32 v = zero();
    for (int i = 0; i < n; ++i) v.lane[i] = p[i];
    return v;
  }
  ARION_INLINE void store(float* p) const { std::memcpy(p, lane, sizeof lane); }
  ARION_INLINE void store_first(float* p, int n) const {
    for (int i = 0; i < n; ++i) p[i] = lane[i];
  }
};

// Applies f lane by lane.
template <typename Out, typename F>
ARION_INLINE Out map_lanes(F f) {
  Out out;
  for (int i = 0; i < 16; ++i) out.lane[i] = f(i);
  return out;
}
// Signed overflow wraps, as it does in vector instructions.
ARION_INLINE int32_t wrap(int64_t x) {
  return static_cast<int32_t>(static_cast<uint32_t>(x));
}

ARION_INLINE F32 operator+(F32 a, F32 b) {
  return map_lanes<F32>([&](int i) { return a.lane[i] + b.lane[i]; });
}
ARION_INLINE F32 operator-(F32 a, F32 b) {
  return map_lanes<F32>([&](int i) { return a.lane[i] - b.lane[i]; });
}
ARION_INLINE F32 operator*(F32 a, F32 b) {
  return map_lanes<F32>([&](int i) { return a.lane[i] * b.lane[i]; });
}
ARION_INLINE F32 operator/(F32 a, F32 b) {
  return map_lanes<F32>([&](int i) { return a.lane[i] / b.lane[i]; });
}
ARION_INLINE F32 fma(F32 a, F32 b, F32 c) {
  return map_lanes<F32>([&](int i) { return __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]); });
}
ARION_INLINE F32 sqrt(F32 a) {
  return map_lanes<F32>([&](int i) { return __builtin_sqrtf(a.lane[i]); });
}
ARION_INLINE F32 max(F32 a, F32 b) {
  return map_lanes<F32>([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
ARION_INLINE F32 min(F32 a, F32 b) {
  return map_lanes<F32>([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
ARION_INLINE Mask less(F32 a, F32 b) {
  return map_lanes<Mask>([&](int i) { return a.lane[i] < b.lane[i]; });
}
ARION_INLINE Mask less_equal(F32 a, F32 b) {
  return map_lanes<Mask>([&](int i) { return a.lane[i] <= b.lane[i]; });
}
ARION_INLINE Mask equal(F32 a, F32 b) {
  return map_lanes<Mask>([&](int i) { return a.lane[i] == b.lane[i]; });
}
ARION_INLINE Mask is_nan(F32 a) {
  return map_lanes<Mask>([&](int i) { return a.lane[i] != a.lane[i]; });
}

ARION_INLINE I32 operator+(I32 a, I32 b) {
  return map_lanes<I32>([&](int i) { return wrap(int64_t{a.lane[i]} + b.lane[i]); });
}
ARION_INLINE I32 operator-(I32 a, I32 b) {
  return map_lanes<I32>([&](int i) { return wrap(int64_t{a.lane[i]} - b.lane[i]); });
}
ARION_INLINE I32 operator*(I32 a, I32 b) {
  return map_lanes<I32>([&](int i) { return wrap(int64_t{a.lane[i]} * b.lane[i]); });
}
ARION_INLINE I32 operator&(I32 a, I32 b) {
  return map_lanes<I32>([&](int i) { return a.lane[i] & b.lane[i]; });
}
ARION_INLINE I32 operator|(I32 a, I32 b) {
  return map_lanes<I32>([&](int i) { return a.lane[i] | b.lane[i]; });
}
ARION_INLINE I32 operator^(I32 a, I32 b) {
  return map_lanes<I32>([&](int i) { return a.lane[i] ^ b.lane[i]; });
}
template <int N>
ARION_INLINE I32 shl(I32 a) {
  return map_lanes<I32>(
      [&](int i) { return static_cast<int32_t>(static_cast<uint32_t>(a.lane[i]) << N); });
}
template <int N>
ARION_INLINE I32 shr(I32 a) {
  return map_lanes<I32>(
      [&](int i) { return static_cast<int32_t>(static_cast<uint32_t>(a.lane[i]) >> N); });
}
template <int N>
ARION_INLINE I32 sar(I32 a) {
  return map_lanes<I32>([&](int i) { return a.lane[i] >> N; });
}
ARION_INLINE I32 max(I32 a, I32 b) {
  return map_lanes<I32>([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
ARION_INLINE I32 min(I32 a, I32 b) {
  return map_lanes<I32>([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
ARION_INLINE Mask less(I32 a, I32 b) {
  return map_lanes<Mask>([&](int i) { return a.lane[i] < b.lane[i]; });
}
ARION_INLINE Mask equal(I32 a, I32 b) {
  return map_lanes<Mask>([&](int i) { return a.lane[i] == b.lane[i]; });
}

ARION_INLINE Mask first_lanes(int n) {
  return map_lanes<Mask>([&](int i) { return i < n; });
}
ARION_INLINE Mask operator&(Mask a, Mask b) {
  return map_lanes<Mask>([&](int i) { return a.lane[i] && b.lane[i]; });
}
ARION_INLINE bool any(Mask m) {
  bool found = false;
  for (const bool lane : m.lane) found |= lane;
  return found;
}
ARION_INLINE F32 select(Mask m, F32 yes, F32 no) {
  return map_lanes<F32>([&](int i) { return m.lane[i] ? yes.lane[i] : no.lane[i]; });
}
ARION_INLINE I32 select(Mask m, I32 yes, I32 no) {
  return map_lanes<I32>([&](int i) { return m.lane[i] ? yes.lane[i] : no.lane[i]; });
}

ARION_INLINE F32 to_f32(I32 a) {
  return map_lanes<F32>([&](int i) { return static_cast<float>(a.lane[i]); });
}
ARION_INLINE I32 round_to_i32(F32 a) {
  return map_lanes<I32>([&](int i) {
    const float x = a.lane[i];
    if (!(x >= -0x1p31f && x < 0x1p31f)) return INT32_MIN;
    // Adding 1.5 * 2^52 leaves the nearest even integer in the low bits.
    return wrap(std::bit_cast<int64_t>(static_cast<double>(x) + 0x1.8p52));
  });
}
ARION_INLINE I32 bits(F32 a) {
  return map_lanes<I32>([&](int i) { return std::bit_cast<int32_t>(a.lane[i]); });
}
ARION_INLINE F32 from_bits(I32 a) {
  return map_lanes<F32>([&](int i) { return std::bit_cast<float>(a.lane[i]); });
}

ARION_INLINE F32 load_f16(const uint16_t* p) {
  return map_lanes<F32>([&](int i) { return half_to_float(p[i]); });
}
ARION_INLINE void store_f16(uint16_t* p, F32 v) {
  for (int i = 0; i < 16; ++i) {
    float x = v.lane[i];
    if (x > 65504.0f) x = 65504.0f;
    if (x < -65504.0f) x = -65504.0f;
    p[i] = float_to_half(x);
  }
}
ARION_INLINE I32 load_u16(const uint16_t* p) {
  return map_lanes<I32>([&](int i) { return int32_t{p[i]}; });
}
ARION_INLINE void store_low16(uint16_t* p, I32 v) {
  for (int i = 0; i < 16; ++i) p[i] = static_cast<uint16_t>(v.lane[i]);
}
ARION_INLINE I32 load_u8(const uint8_t* p) {
  return map_lanes<I32>([&](int i) { return int32_t{p[i]}; });
}
ARION_INLINE I32 load_i8(const int8_t* p) {
  return map_lanes<I32>([&](int i) { return int32_t{p[i]}; });
}
ARION_INLINE void store_i8(int8_t* p, I32 v) {
  for (int i = 0; i < 16; ++i) p[i] = static_cast<int8_t>(static_cast<uint8_t>(v.lane[i]));
}

template <typename T>
ARION_INLINE auto reduce_add(T v) {
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) v.lane[i] += v.lane[i + half];
  }
  return v.lane[0];
}
template <typename T>
ARION_INLINE auto reduce_max(T v) {
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) {
      v.lane[i] = v.lane[i] > v.lane[i + half] ? v.lane[i] : v.lane[i + half];
    }
  }
  return v.lane[0];
}

struct Bytes {
  uint8_t byte[64];

  static ARION_INLINE Bytes set1(uint8_t x) {
    Bytes v;
    std::memset(v.byte, x, 64);
    return v;
  }
  static ARION_INLINE Bytes load(const void* p) {
    Bytes v;
    std::memcpy(v.byte, p, 64);
    return v;
  }
  static ARION_INLINE Bytes load_once(const void* p) { return load(p); }
  static ARION_INLINE Bytes repeat16(const void* p) {
    Bytes v;
    for (int i = 0; i < 4; ++i) std::memcpy(v.byte + 16 * i, p, 16);
    return v;
  }
  ARION_INLINE void store(void* p) const { std::memcpy(p, byte, 64); }
};
ARION_INLINE Bytes operator&(Bytes a, Bytes b) {
  for (int i = 0; i < 64; ++i) a.byte[i] &= b.byte[i];
  return a;
}
ARION_INLINE Bytes operator|(Bytes a, Bytes b) {
  for (int i = 0; i < 64; ++i) a.byte[i] |= b.byte[i];
  return a;
}
// Shifts whole bytes; callers mask the result, so that levels may shift wider elements.
template <int N>
ARION_INLINE Bytes shr_and(Bytes a, Bytes mask) {
  for (int i = 0; i < 64; ++i) a.byte[i] = static_cast<uint8_t>((a.byte[i] >> N) & mask.byte[i]);
  return a;
}
template <int N>
ARION_INLINE Bytes shl_and(Bytes a, Bytes mask) {
  for (int i = 0; i < 64; ++i) a.byte[i] = static_cast<uint8_t>((a.byte[i] << N) & mask.byte[i]);
  return a;
}
ARION_INLINE Bytes operator^(Bytes a, Bytes b) {
  for (int i = 0; i < 64; ++i) a.byte[i] ^= b.byte[i];
  return a;
}
ARION_INLINE Bytes lookup16(Bytes table, Bytes v) {
  for (int i = 0; i < 64; ++i) v.byte[i] = table.byte[i / 16 * 16 + v.byte[i]];
  return v;
}
ARION_INLINE I32 lanes(Bytes a) {
  return std::bit_cast<I32>(a);
}
ARION_INLINE I32 dot4(I32 acc, Bytes codes, const int8_t* quad) {
  for (int i = 0; i < 16; ++i) {
    int32_t sum = 0;
    for (int j = 0; j < 4; ++j) sum += codes.byte[4 * i + j] * quad[j];
    acc.lane[i] = wrap(int64_t{acc.lane[i]} + sum);
  }
  return acc;
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
