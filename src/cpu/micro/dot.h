// The exact int32 sum of codes times activations, over some of the eight vectors of a block.
#pragma once
#include "cpu/micro/unpack.h"

namespace arion::cpu::ARION_ISA {
namespace {

#if defined(ARION_ISA_avx2)

// Vectors whose 16-bit pair sums may be added before widening: max |code| * 127 * 2 * n < 32768.
// The largest value of tables is 43 for t3 and 127 for t4.
template <Codec kCodec>
inline constexpr int kNarrowSums = kCodec == Codec::c8 || kCodec == Codec::t4   ? 1
                                   : kCodec == Codec::c6 || kCodec == Codec::t3 ? 2
                                   : kCodec == Codec::c5                        ? 4
                                                                                : 8;

template <Codec kCodec>
ARION_INLINE __m256i pair_sums(__m256i codes, __m256i quad) {
  if constexpr (kCodeBias<kCodec> == 0) return _mm256_maddubs_epi16(codes, quad);
  // |code - 128| <= 128 takes the unsigned place, its sign moves to the activation (>= -127).
  return _mm256_maddubs_epi16(_mm256_abs_epi8(codes), _mm256_sign_epi8(quad, codes));
}

template <Codec kCodec, int kBegin, int kCount>
ARION_INLINE I32 dot_codes(I32 acc, const Bytes (&v)[8], const int8_t* q) {
  constexpr int kStep = kNarrowSums<kCodec> < kCount ? kNarrowSums<kCodec> : kCount;
  const __m256i ones = _mm256_set1_epi16(1);
  static_for<kCount / kStep>([&](auto group) ARION_INLINE_LAMBDA {
    __m256i lo = _mm256_setzero_si256(), hi = lo;
    static_for<kStep>([&](auto i) ARION_INLINE_LAMBDA {
      constexpr int k = kBegin + group.value * kStep + i.value;
      const __m256i quad = broadcast_quad(q + 4 * k);
      lo = _mm256_add_epi16(lo, pair_sums<kCodec>(v[k].lo, quad));
      hi = _mm256_add_epi16(hi, pair_sums<kCodec>(v[k].hi, quad));
    });
    acc.lo = _mm256_add_epi32(acc.lo, _mm256_madd_epi16(lo, ones));
    acc.hi = _mm256_add_epi32(acc.hi, _mm256_madd_epi16(hi, ones));
  });
  return acc;
}

#elif defined(ARION_ISA_generic)

template <Codec kCodec, int kBegin, int kCount>
ARION_INLINE I32 dot_codes(I32 acc, const Bytes (&v)[8], const int8_t* q) {
  for (int k = kBegin; k < kBegin + kCount; ++k) acc = dot4(acc, v[k], q + 4 * k);
  return acc;
}

#else

template <Codec kCodec, int kBegin, int kCount>
ARION_INLINE I32 dot_codes(I32 acc, const Bytes (&v)[8], const int8_t* q) {
  static_for<kCount>(
      [&](auto i) ARION_INLINE_LAMBDA { acc = dot4(acc, v[kBegin + i], q + 4 * (kBegin + i)); });
  return acc;
}

#endif

}  // namespace
}  // namespace arion::cpu::ARION_ISA
