// 16 lanes in two ymm registers: AVX2 with FMA and F16C, and AVX-VNNI. See simd.h for the meaning.
#pragma once
#include <immintrin.h>

#include "cpu/simd/inline.h"

namespace arion::cpu::ARION_ISA {
namespace {

struct Mask {
  __m256i lo, hi;  // all ones or all zeros per lane
};
ARION_INLINE Mask first_lanes(int n) {
  const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return {_mm256_cmpgt_epi32(_mm256_set1_epi32(n), index),
          _mm256_cmpgt_epi32(_mm256_set1_epi32(n - 8), index)};
}

struct I32 {
  __m256i lo, hi;

  static ARION_INLINE I32 set1(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
  static ARION_INLINE I32 zero() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
  static ARION_INLINE I32 load(const int32_t* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 8))};
  }
  static ARION_INLINE I32 load_first(const int32_t* p, int n) {
    const Mask mask = first_lanes(n);
    return {_mm256_maskload_epi32(p, mask.lo), _mm256_maskload_epi32(p + 8, mask.hi)};
  }
  ARION_INLINE void store(int32_t* p) const {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), lo);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 8), hi);
  }
  ARION_INLINE void store_first(int32_t* p, int n) const {
    const Mask mask = first_lanes(n);
    _mm256_maskstore_epi32(p, mask.lo, lo);
    _mm256_maskstore_epi32(p + 8, mask.hi, hi);
  }
};

struct F32 {
  __m256 lo, hi;

  static ARION_INLINE F32 set1(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static ARION_INLINE F32 zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static ARION_INLINE F32 load(const float* p) {
    return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
  }
  static ARION_INLINE F32 load_first(const float* p, int n) {
    const Mask mask = first_lanes(n);
    return {_mm256_maskload_ps(p, mask.lo), _mm256_maskload_ps(p + 8, mask.hi)};
  }
  ARION_INLINE void store(float* p) const {
    _mm256_storeu_ps(p, lo);
    _mm256_storeu_ps(p + 8, hi);
  }
  ARION_INLINE void store_first(float* p, int n) const {
    const Mask mask = first_lanes(n);
    _mm256_maskstore_ps(p, mask.lo, lo);
    _mm256_maskstore_ps(p + 8, mask.hi, hi);
  }
};

ARION_INLINE F32 operator+(F32 a, F32 b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
ARION_INLINE F32 operator-(F32 a, F32 b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}
ARION_INLINE F32 operator*(F32 a, F32 b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
ARION_INLINE F32 operator/(F32 a, F32 b) {
  return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}
ARION_INLINE F32 fma(F32 a, F32 b, F32 c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
ARION_INLINE F32 sqrt(F32 a) {
  return {_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi)};
}
ARION_INLINE F32 max(F32 a, F32 b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}
ARION_INLINE F32 min(F32 a, F32 b) {
  return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}
template <int kPredicate>
ARION_INLINE Mask compare(F32 a, F32 b) {
  return {_mm256_castps_si256(_mm256_cmp_ps(a.lo, b.lo, kPredicate)),
          _mm256_castps_si256(_mm256_cmp_ps(a.hi, b.hi, kPredicate))};
}
ARION_INLINE Mask less(F32 a, F32 b) {
  return compare<_CMP_LT_OQ>(a, b);
}
ARION_INLINE Mask less_equal(F32 a, F32 b) {
  return compare<_CMP_LE_OQ>(a, b);
}
ARION_INLINE Mask equal(F32 a, F32 b) {
  return compare<_CMP_EQ_OQ>(a, b);
}
ARION_INLINE Mask is_nan(F32 a) {
  return compare<_CMP_UNORD_Q>(a, a);
}

ARION_INLINE I32 operator+(I32 a, I32 b) {
  return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}
ARION_INLINE I32 operator-(I32 a, I32 b) {
  return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)};
}
ARION_INLINE I32 operator*(I32 a, I32 b) {
  return {_mm256_mullo_epi32(a.lo, b.lo), _mm256_mullo_epi32(a.hi, b.hi)};
}
ARION_INLINE I32 operator&(I32 a, I32 b) {
  return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)};
}
ARION_INLINE I32 operator|(I32 a, I32 b) {
  return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
}
ARION_INLINE I32 operator^(I32 a, I32 b) {
  return {_mm256_xor_si256(a.lo, b.lo), _mm256_xor_si256(a.hi, b.hi)};
}
template <int N>
ARION_INLINE I32 shl(I32 a) {
  return {_mm256_slli_epi32(a.lo, N), _mm256_slli_epi32(a.hi, N)};
}
template <int N>
ARION_INLINE I32 shr(I32 a) {
  return {_mm256_srli_epi32(a.lo, N), _mm256_srli_epi32(a.hi, N)};
}
template <int N>
ARION_INLINE I32 sar(I32 a) {
  return {_mm256_srai_epi32(a.lo, N), _mm256_srai_epi32(a.hi, N)};
}
ARION_INLINE I32 max(I32 a, I32 b) {
  return {_mm256_max_epi32(a.lo, b.lo), _mm256_max_epi32(a.hi, b.hi)};
}
ARION_INLINE I32 min(I32 a, I32 b) {
  return {_mm256_min_epi32(a.lo, b.lo), _mm256_min_epi32(a.hi, b.hi)};
}
ARION_INLINE Mask less(I32 a, I32 b) {
  return {_mm256_cmpgt_epi32(b.lo, a.lo), _mm256_cmpgt_epi32(b.hi, a.hi)};
}
ARION_INLINE Mask equal(I32 a, I32 b) {
  return {_mm256_cmpeq_epi32(a.lo, b.lo), _mm256_cmpeq_epi32(a.hi, b.hi)};
}

ARION_INLINE Mask operator&(Mask a, Mask b) {
  return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)};
}
ARION_INLINE bool any(Mask m) {
  const __m256i both = _mm256_or_si256(m.lo, m.hi);
  return _mm256_testz_si256(both, both) == 0;
}
ARION_INLINE F32 select(Mask m, F32 yes, F32 no) {
  return {_mm256_blendv_ps(no.lo, yes.lo, _mm256_castsi256_ps(m.lo)),
          _mm256_blendv_ps(no.hi, yes.hi, _mm256_castsi256_ps(m.hi))};
}
ARION_INLINE I32 select(Mask m, I32 yes, I32 no) {
  return {_mm256_blendv_epi8(no.lo, yes.lo, m.lo), _mm256_blendv_epi8(no.hi, yes.hi, m.hi)};
}

ARION_INLINE F32 to_f32(I32 a) {
  return {_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)};
}
ARION_INLINE I32 round_to_i32(F32 a) {
  return {_mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi)};
}
ARION_INLINE I32 bits(F32 a) {
  return {_mm256_castps_si256(a.lo), _mm256_castps_si256(a.hi)};
}
ARION_INLINE F32 from_bits(I32 a) {
  return {_mm256_castsi256_ps(a.lo), _mm256_castsi256_ps(a.hi)};
}

ARION_INLINE __m128i load128(const void* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
ARION_INLINE F32 load_f16(const uint16_t* p) {
  return {_mm256_cvtph_ps(load128(p)), _mm256_cvtph_ps(load128(p + 8))};
}
ARION_INLINE void store_f16(uint16_t* p, F32 v) {
  const F32 limited = min(F32::set1(65504.0f), max(F32::set1(-65504.0f), v));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                   _mm256_cvtps_ph(limited.lo, _MM_FROUND_TO_NEAREST_INT));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8),
                   _mm256_cvtps_ph(limited.hi, _MM_FROUND_TO_NEAREST_INT));
}
ARION_INLINE I32 load_u16(const uint16_t* p) {
  return {_mm256_cvtepu16_epi32(load128(p)), _mm256_cvtepu16_epi32(load128(p + 8))};
}
ARION_INLINE void store_low16(uint16_t* p, I32 v) {
  const I32 low = v & I32::set1(0xffff);
  const __m256i packed = _mm256_packus_epi32(low.lo, low.hi);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permute4x64_epi64(packed, 0xd8));
}
ARION_INLINE I32 load_u8(const uint8_t* p) {
  const __m128i v = load128(p);
  return {_mm256_cvtepu8_epi32(v), _mm256_cvtepu8_epi32(_mm_srli_si128(v, 8))};
}
ARION_INLINE I32 load_i8(const int8_t* p) {
  const __m128i v = load128(p);
  return {_mm256_cvtepi8_epi32(v), _mm256_cvtepi8_epi32(_mm_srli_si128(v, 8))};
}
ARION_INLINE void store_i8(int8_t* p, I32 v) {
  const I32 low = v & I32::set1(0xff);
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(low.lo, low.hi), 0xd8);
  _mm_storeu_si128(
      reinterpret_cast<__m128i*>(p),
      _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}

ARION_INLINE float reduce_add(F32 a) {
  const __m256 v8 = _mm256_add_ps(a.lo, a.hi);
  const __m128 v4 = _mm_add_ps(_mm256_castps256_ps128(v8), _mm256_extractf128_ps(v8, 1));
  const __m128 v2 = _mm_add_ps(v4, _mm_movehl_ps(v4, v4));
  return _mm_cvtss_f32(_mm_add_ss(v2, _mm_movehdup_ps(v2)));
}
ARION_INLINE float reduce_max(F32 a) {
  const __m256 v8 = _mm256_max_ps(a.lo, a.hi);
  const __m128 v4 = _mm_max_ps(_mm256_castps256_ps128(v8), _mm256_extractf128_ps(v8, 1));
  const __m128 v2 = _mm_max_ps(v4, _mm_movehl_ps(v4, v4));
  return _mm_cvtss_f32(_mm_max_ss(v2, _mm_movehdup_ps(v2)));
}
ARION_INLINE int32_t reduce_add(I32 a) {
  const __m256i v8 = _mm256_add_epi32(a.lo, a.hi);
  const __m128i v4 = _mm_add_epi32(_mm256_castsi256_si128(v8), _mm256_extracti128_si256(v8, 1));
  const __m128i v2 = _mm_add_epi32(v4, _mm_shuffle_epi32(v4, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(v2, _mm_shuffle_epi32(v2, 0xb1)));
}
ARION_INLINE int32_t reduce_max(I32 a) {
  const __m256i v8 = _mm256_max_epi32(a.lo, a.hi);
  const __m128i v4 = _mm_max_epi32(_mm256_castsi256_si128(v8), _mm256_extracti128_si256(v8, 1));
  const __m128i v2 = _mm_max_epi32(v4, _mm_shuffle_epi32(v4, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(v2, _mm_shuffle_epi32(v2, 0xb1)));
}

struct Bytes {
  __m256i lo, hi;

  static ARION_INLINE Bytes set1(uint8_t x) {
    const __m256i v = _mm256_set1_epi8(static_cast<char>(x));
    return {v, v};
  }
  static ARION_INLINE Bytes load(const void* p) {
    const __m256i* v = reinterpret_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(v), _mm256_loadu_si256(v + 1)};
  }
  static ARION_INLINE Bytes load_once(const void* p) { return load(p); }
  static ARION_INLINE Bytes repeat16(const void* p) {
    const __m256i v = _mm256_broadcastsi128_si256(load128(p));
    return {v, v};
  }
  ARION_INLINE void store(void* p) const {
    __m256i* v = reinterpret_cast<__m256i*>(p);
    _mm256_storeu_si256(v, lo);
    _mm256_storeu_si256(v + 1, hi);
  }
};
ARION_INLINE Bytes operator&(Bytes a, Bytes b) {
  return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)};
}
ARION_INLINE Bytes operator|(Bytes a, Bytes b) {
  return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
}
ARION_INLINE Bytes operator^(Bytes a, Bytes b) {
  return {_mm256_xor_si256(a.lo, b.lo), _mm256_xor_si256(a.hi, b.hi)};
}
ARION_INLINE Bytes lookup16(Bytes table, Bytes v) {
  return {_mm256_shuffle_epi8(table.lo, v.lo), _mm256_shuffle_epi8(table.hi, v.hi)};
}
ARION_INLINE I32 lanes(Bytes a) {
  return {a.lo, a.hi};
}
// Shifts within 32-bit elements: the mask must drop the bits that cross into another byte.
template <int N>
ARION_INLINE Bytes shr_and(Bytes a, Bytes mask) {
  return {_mm256_and_si256(_mm256_srli_epi32(a.lo, N), mask.lo),
          _mm256_and_si256(_mm256_srli_epi32(a.hi, N), mask.hi)};
}
template <int N>
ARION_INLINE Bytes shl_and(Bytes a, Bytes mask) {
  return {_mm256_and_si256(_mm256_slli_epi32(a.lo, N), mask.lo),
          _mm256_and_si256(_mm256_slli_epi32(a.hi, N), mask.hi)};
}

ARION_INLINE __m256i broadcast_quad(const int8_t* quad) {
  return _mm256_castps_si256(_mm256_broadcast_ss(reinterpret_cast<const float*>(quad)));
}
#if defined(ARION_ISA_avxvnni)
ARION_INLINE I32 dot4(I32 acc, Bytes codes, const int8_t* quad) {
  const __m256i q = broadcast_quad(quad);
  return {_mm256_dpbusd_avx_epi32(acc.lo, codes.lo, q),
          _mm256_dpbusd_avx_epi32(acc.hi, codes.hi, q)};
}
#else
// Any code up to 255: the even and the odd codes are widened, because vpmaddubsw would saturate.
ARION_INLINE __m256i dot4_wide(__m256i acc, __m256i codes, __m256i even_q, __m256i odd_q) {
  const __m256i even = _mm256_and_si256(codes, _mm256_set1_epi16(0xff));
  const __m256i odd = _mm256_srli_epi16(codes, 8);
  acc = _mm256_add_epi32(acc, _mm256_madd_epi16(even, even_q));
  return _mm256_add_epi32(acc, _mm256_madd_epi16(odd, odd_q));
}
ARION_INLINE I32 dot4(I32 acc, Bytes codes, const int8_t* quad) {
  const __m256i q = broadcast_quad(quad);
  const __m256i even_q = _mm256_srai_epi16(_mm256_slli_epi16(q, 8), 8);
  const __m256i odd_q = _mm256_srai_epi16(q, 8);
  return {dot4_wide(acc.lo, codes.lo, even_q, odd_q), dot4_wide(acc.hi, codes.hi, even_q, odd_q)};
}
#endif

}  // namespace
}  // namespace arion::cpu::ARION_ISA
