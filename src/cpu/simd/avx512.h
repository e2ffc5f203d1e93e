// 16 lanes in one zmm register: AVX-512 F, BW, VL, DQ, VNNI. See simd.h for what each function
// means.
#pragma once
// GCC 12 warns about the deliberately undefined values inside its own intrinsics.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop

#include "cpu/simd/inline.h"

namespace arion::cpu::ARION_ISA {
namespace {

struct Mask {
  __mmask16 m;
};
ARION_INLINE Mask first_lanes(int n) {
  return {static_cast<__mmask16>((1u << n) - 1)};
}

struct I32 {
  __m512i v;

  static ARION_INLINE I32 set1(int32_t x) { return {_mm512_set1_epi32(x)}; }
  static ARION_INLINE I32 zero() { return {_mm512_setzero_si512()}; }
  static ARION_INLINE I32 load(const int32_t* p) { return {_mm512_loadu_si512(p)}; }
  static ARION_INLINE I32 load_first(const int32_t* p, int n) {
    return {_mm512_maskz_loadu_epi32(first_lanes(n).m, p)};
  }
  ARION_INLINE void store(int32_t* p) const { _mm512_storeu_si512(p, v); }
  ARION_INLINE void store_first(int32_t* p, int n) const {
    _mm512_mask_storeu_epi32(p, first_lanes(n).m, v);
  }
};

struct F32 {
  __m512 v;

  static ARION_INLINE F32 set1(float x) { return {_mm512_set1_ps(x)}; }
  static ARION_INLINE F32 zero() { return {_mm512_setzero_ps()}; }
  static ARION_INLINE F32 load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static ARION_INLINE F32 load_first(const float* p, int n) {
    return {_mm512_maskz_loadu_ps(first_lanes(n).m, p)};
  }
  ARION_INLINE void store(float* p) const { _mm512_storeu_ps(p, v); }
  ARION_INLINE void store_first(float* p, int n) const {
    _mm512_mask_storeu_ps(p, first_lanes(n).m, v);
  }
};

ARION_INLINE F32 operator+(F32 a, F32 b) {
  return {_mm512_add_ps(a.v, b.v)};
}
ARION_INLINE F32 operator-(F32 a, F32 b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
ARION_INLINE F32 operator*(F32 a, F32 b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
ARION_INLINE F32 operator/(F32 a, F32 b) {
  return {_mm512_div_ps(a.v, b.v)};
}
ARION_INLINE F32 fma(F32 a, F32 b, F32 c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
ARION_INLINE F32 sqrt(F32 a) {
  return {_mm512_sqrt_ps(a.v)};
}
ARION_INLINE F32 max(F32 a, F32 b) {
  return {_mm512_max_ps(a.v, b.v)};
}
ARION_INLINE F32 min(F32 a, F32 b) {
  return {_mm512_min_ps(a.v, b.v)};
}
ARION_INLINE Mask less(F32 a, F32 b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)};
}
ARION_INLINE Mask less_equal(F32 a, F32 b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)};
}
ARION_INLINE Mask equal(F32 a, F32 b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)};
}
ARION_INLINE Mask is_nan(F32 a) {
  return {_mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q)};
}

ARION_INLINE I32 operator+(I32 a, I32 b) {
  return {_mm512_add_epi32(a.v, b.v)};
}
ARION_INLINE I32 operator-(I32 a, I32 b) {
  return {_mm512_sub_epi32(a.v, b.v)};
}
ARION_INLINE I32 operator*(I32 a, I32 b) {
  return {_mm512_mullo_epi32(a.v, b.v)};
}
ARION_INLINE I32 operator&(I32 a, I32 b) {
  return {_mm512_and_si512(a.v, b.v)};
}
ARION_INLINE I32 operator|(I32 a, I32 b) {
  return {_mm512_or_si512(a.v, b.v)};
}
ARION_INLINE I32 operator^(I32 a, I32 b) {
  return {_mm512_xor_si512(a.v, b.v)};
}
template <int N>
ARION_INLINE I32 shl(I32 a) {
  return {_mm512_slli_epi32(a.v, N)};
}
template <int N>
ARION_INLINE I32 shr(I32 a) {
  return {_mm512_srli_epi32(a.v, N)};
}
template <int N>
ARION_INLINE I32 sar(I32 a) {
  return {_mm512_srai_epi32(a.v, N)};
}
ARION_INLINE I32 max(I32 a, I32 b) {
  return {_mm512_max_epi32(a.v, b.v)};
}
ARION_INLINE I32 min(I32 a, I32 b) {
  return {_mm512_min_epi32(a.v, b.v)};
}
ARION_INLINE Mask less(I32 a, I32 b) {
  return {_mm512_cmplt_epi32_mask(a.v, b.v)};
}
ARION_INLINE Mask equal(I32 a, I32 b) {
  return {_mm512_cmpeq_epi32_mask(a.v, b.v)};
}

ARION_INLINE Mask operator&(Mask a, Mask b) {
  return {static_cast<__mmask16>(a.m & b.m)};
}
ARION_INLINE bool any(Mask m) {
  return m.m != 0;
}
ARION_INLINE F32 select(Mask m, F32 yes, F32 no) {
  return {_mm512_mask_blend_ps(m.m, no.v, yes.v)};
}
ARION_INLINE I32 select(Mask m, I32 yes, I32 no) {
  return {_mm512_mask_blend_epi32(m.m, no.v, yes.v)};
}

ARION_INLINE F32 to_f32(I32 a) {
  return {_mm512_cvtepi32_ps(a.v)};
}
ARION_INLINE I32 round_to_i32(F32 a) {
  return {_mm512_cvtps_epi32(a.v)};
}
ARION_INLINE I32 bits(F32 a) {
  return {_mm512_castps_si512(a.v)};
}
ARION_INLINE F32 from_bits(I32 a) {
  return {_mm512_castsi512_ps(a.v)};
}

ARION_INLINE F32 load_f16(const uint16_t* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
ARION_INLINE void store_f16(uint16_t* p, F32 v) {
  const F32 limited = min(F32::set1(65504.0f), max(F32::set1(-65504.0f), v));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                      _mm512_cvtps_ph(limited.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
ARION_INLINE I32 load_u16(const uint16_t* p) {
  return {_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
ARION_INLINE void store_low16(uint16_t* p, I32 v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(v.v));
}
ARION_INLINE I32 load_u8(const uint8_t* p) {
  return {_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
ARION_INLINE I32 load_i8(const int8_t* p) {
  return {_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
ARION_INLINE void store_i8(int8_t* p, I32 v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(v.v));
}

ARION_INLINE float reduce_add(F32 a) {
  const __m256 high = _mm512_maskz_extractf32x8_ps(0xff, a.v, 1);
  const __m256 v8 = _mm256_add_ps(_mm512_castps512_ps256(a.v), high);
  const __m128 v4 = _mm_add_ps(_mm256_castps256_ps128(v8), _mm256_extractf128_ps(v8, 1));
  const __m128 v2 = _mm_add_ps(v4, _mm_movehl_ps(v4, v4));
  return _mm_cvtss_f32(_mm_add_ss(v2, _mm_movehdup_ps(v2)));
}
ARION_INLINE float reduce_max(F32 a) {
  const __m256 high = _mm512_maskz_extractf32x8_ps(0xff, a.v, 1);
  const __m256 v8 = _mm256_max_ps(_mm512_castps512_ps256(a.v), high);
  const __m128 v4 = _mm_max_ps(_mm256_castps256_ps128(v8), _mm256_extractf128_ps(v8, 1));
  const __m128 v2 = _mm_max_ps(v4, _mm_movehl_ps(v4, v4));
  return _mm_cvtss_f32(_mm_max_ss(v2, _mm_movehdup_ps(v2)));
}
ARION_INLINE int32_t reduce_add(I32 a) {
  const __m256i high = _mm512_maskz_extracti32x8_epi32(0xff, a.v, 1);
  const __m256i v8 = _mm256_add_epi32(_mm512_castsi512_si256(a.v), high);
  const __m128i v4 = _mm_add_epi32(_mm256_castsi256_si128(v8), _mm256_extracti128_si256(v8, 1));
  const __m128i v2 = _mm_add_epi32(v4, _mm_shuffle_epi32(v4, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(v2, _mm_shuffle_epi32(v2, 0xb1)));
}
ARION_INLINE int32_t reduce_max(I32 a) {
  const __m256i high = _mm512_maskz_extracti32x8_epi32(0xff, a.v, 1);
  const __m256i v8 = _mm256_max_epi32(_mm512_castsi512_si256(a.v), high);
  const __m128i v4 = _mm_max_epi32(_mm256_castsi256_si128(v8), _mm256_extracti128_si256(v8, 1));
  const __m128i v2 = _mm_max_epi32(v4, _mm_shuffle_epi32(v4, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(v2, _mm_shuffle_epi32(v2, 0xb1)));
}

struct Bytes {
  __m512i v;

  static ARION_INLINE Bytes set1(uint8_t x) { return {_mm512_set1_epi8(static_cast<char>(x))}; }
  static ARION_INLINE Bytes load(const void* p) { return {_mm512_loadu_si512(p)}; }
  static ARION_INLINE Bytes load_once(const void* p) {
    Bytes line = load(p);
    asm("" : "+v"(line.v));
    return line;
  }
  static ARION_INLINE Bytes repeat16(const void* p) {
    const __m128i quarter = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return {_mm512_broadcast_i32x4(quarter)};
  }
  ARION_INLINE void store(void* p) const { _mm512_storeu_si512(p, v); }
};
ARION_INLINE Bytes operator&(Bytes a, Bytes b) {
  return {_mm512_and_si512(a.v, b.v)};
}
ARION_INLINE Bytes operator|(Bytes a, Bytes b) {
  return {_mm512_or_si512(a.v, b.v)};
}
ARION_INLINE Bytes operator^(Bytes a, Bytes b) {
  return {_mm512_xor_si512(a.v, b.v)};
}
ARION_INLINE Bytes lookup16(Bytes table, Bytes v) {
  return {_mm512_shuffle_epi8(table.v, v.v)};
}
ARION_INLINE I32 lanes(Bytes a) {
  return {a.v};
}
// Shifts within 32-bit elements: the mask must drop the bits that cross into another byte.
template <int N>
ARION_INLINE Bytes shr_and(Bytes a, Bytes mask) {
  return {_mm512_and_si512(_mm512_srli_epi32(a.v, N), mask.v)};
}
template <int N>
ARION_INLINE Bytes shl_and(Bytes a, Bytes mask) {
  return {_mm512_and_si512(_mm512_slli_epi32(a.v, N), mask.v)};
}
// Per 32-bit element the low halves of two numbers: `low`, then `high`.
ARION_INLINE I32 pair_halves(I32 low, I32 high) {
  const __m512i of_lane = _mm512_set4_epi32(0x0d0c0000, 0x09080000, 0x05040000, 0x01000000);
  return {_mm512_mask_shuffle_epi8(low.v, 0xcccc'cccc'cccc'cccc, high.v, of_lane)};
}
// Per 32-bit element the sum of the products of the halves, exact.
ARION_INLINE I32 dot2(I32 a, I32 b) {
  return {_mm512_madd_epi16(a.v, b.v)};
}
ARION_INLINE I32 broadcast_quad(const int8_t* quad) {
  int32_t bits;
  __builtin_memcpy(&bits, quad, sizeof bits);
  return I32::set1(bits);
}
ARION_INLINE I32 dot4(I32 acc, Bytes codes, I32 quad) {
  asm("vpdpbusd %2, %1, %0" : "+v"(acc.v) : "v"(codes.v), "v"(quad.v));
  return acc;
}
// One instruction with a broadcast memory operand: the intrinsic spills accumulators in GCC 12.
ARION_INLINE I32 dot4(I32 acc, Bytes codes, const int8_t* quad) {
  asm("vpdpbusd %2%{1to16%}, %1, %0"
      : "+v"(acc.v)
      : "v"(codes.v), "m"(*reinterpret_cast<const int8_t(*)[4]>(quad)));
  return acc;
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
