// The 16-lane vectors every kernel is written against, for the ISA level being compiled.
//
// Types: F32 (16 floats), I32 (16 ints), Mask (one flag per lane), Bytes (64 unsigned codes). All
// levels perform the same IEEE operations on the same 16 lanes, so a kernel gives equal bits on
// each.
//
//   F32::zero() set1(x) load(p) load_first(p, n)   v.store(p) v.store_first(p, n)
//     load_first reads n elements and zeroes the other lanes; store_first writes n elements; n in
//     0..16; no other element is touched. No pointer needs alignment unless a comment says so.
//   + - * /   fma(a, b, c) = a*b + c rounded once   sqrt(v)  abs(v)  negate(v)
//   max(a, b) = a > b ? a : b   min(a, b) = a < b ? a : b   (a NaN yields b)
//   less less_equal equal is_nan -> Mask;   first_lanes(n)   select(mask, yes, no)   any(mask)
//   I32: the same constructors, + - *, & |, shl<n> shr<n> (logical) sar<n>, max min, less equal
//   to_f32(i)   round_to_i32(f): nearest even; outside of int32 and for NaN -2^31
//   bits(f) as I32,  from_bits(i) as F32
//   load_f16 load_bf16 (exact), store_f16 (nearest even, saturates to +-65504, keeps NaN),
//   store_bf16 (nearest even, keeps NaN), each with _first
//   load_i8 load_u8 (16 bytes to I32), store_i8 (low byte of each lane), store_i8_first
//   reduce_add reduce_max: fixed tree, lanes i and i+8, then i+4, i+2, i+1; for F32 and I32
//   Bytes: set1 load store, load_once (where a core reads one line per cycle: into a register, not
//     anew for every use), & |, shr_and<n>(v, mask) shl_and<n>(v, mask): shift bits within bytes;
//     the mask must keep no bit that came from another byte
//     repeat16(p): 16 bytes four times;  lookup16(table, v): byte i is table[i / 16 * 16 + v[i]],
//     for bytes of v below 16 lanes(bytes): the same bits as I32, byte 4*i + j of the vector in
//     bits 8j of lane i
//   dot4(acc, codes, quad): acc[lane] += sum over j of codes[4*lane + j] * quad[j], exact int32
#pragma once

#if defined(ARION_ISA_generic)
#include "cpu/simd/generic.h"
#elif defined(ARION_ISA_avx2) || defined(ARION_ISA_avxvnni)
#include "cpu/simd/avx2.h"
#elif defined(ARION_ISA_avx512) || defined(ARION_ISA_avx512bf16)
#include "cpu/simd/avx512.h"
#else
#error "compile kernels with ARION_ISA=<level> and ARION_ISA_<level>=1"
#endif

namespace arion::cpu::ARION_ISA {
namespace {

inline constexpr int kLanes = 16;

// The same lanes on every level: written once from the primitives above.
ARION_INLINE F32 abs(F32 v) {
  return from_bits(bits(v) & I32::set1(0x7fffffff));
}
ARION_INLINE F32 negate(F32 v) {
  return from_bits(bits(v) ^ I32::set1(INT32_MIN));
}

// Elements of a vector that starts at column `begin` of `end` columns: 0..16.
ARION_INLINE int lanes_left(int begin, int end) {
  const int left = end - begin;
  return left < 0 ? 0 : left > kLanes ? kLanes : left;
}

ARION_INLINE I32 bf16_bits(F32 v) {
  const I32 raw = bits(v);
  const I32 odd = shr<16>(raw) & I32::set1(1);
  const I32 rounded = shr<16>(raw + I32::set1(0x7fff) + odd);
  return select(is_nan(v), shr<16>(raw) | I32::set1(0x40), rounded);
}
ARION_INLINE void store_bf16(uint16_t* p, F32 v) {
  store_low16(p, bf16_bits(v));
}
ARION_INLINE void store_bf16_first(uint16_t* p, F32 v, int n) {
  if (n == kLanes) return store_bf16(p, v);
  alignas(32) uint16_t all[kLanes];
  store_low16(all, bf16_bits(v));
  for (int i = 0; i < n; ++i) p[i] = all[i];
}
ARION_INLINE F32 load_bf16(const uint16_t* p) {
  return from_bits(shl<16>(load_u16(p)));
}
ARION_INLINE F32 load_bf16_first(const uint16_t* p, int n) {
  if (n == kLanes) return load_bf16(p);
  alignas(32) uint16_t all[kLanes] = {};
  for (int i = 0; i < n; ++i) all[i] = p[i];
  return load_bf16(all);
}
// v rounded to the nearest bf16, still as a float.
ARION_INLINE F32 round_to_bf16(F32 v) {
  return from_bits(shl<16>(bf16_bits(v)));
}

ARION_INLINE F32 load_f16_first(const uint16_t* p, int n) {
  if (n == kLanes) return load_f16(p);
  alignas(32) uint16_t all[kLanes] = {};
  for (int i = 0; i < n; ++i) all[i] = p[i];
  return load_f16(all);
}
ARION_INLINE void store_f16_first(uint16_t* p, F32 v, int n) {
  if (n == kLanes) return store_f16(p, v);
  alignas(32) uint16_t all[kLanes];
  store_f16(all, v);
  for (int i = 0; i < n; ++i) p[i] = all[i];
}
ARION_INLINE void store_i8_first(int8_t* p, I32 v, int n) {
  if (n == kLanes) return store_i8(p, v);
  alignas(16) int8_t all[kLanes];
  store_i8(all, v);
  for (int i = 0; i < n; ++i) p[i] = all[i];
}

ARION_INLINE void prefetch(const void* p) {
  __builtin_prefetch(p, 0, 3);
}
ARION_INLINE void prefetch_l2(const void* p) {
  __builtin_prefetch(p, 0, 2);
}

// Calls f(Index<0>) .. f(Index<N-1>): arrays of vectors indexed by a constant live in registers.
template <int N>
struct Index {
  static constexpr int value = N;
  constexpr operator int() const { return N; }
};
template <int N, int I = 0, typename F>
ARION_INLINE void static_for(F&& f) {
  if constexpr (I < N) {
    f(Index<I>{});
    static_for<N, I + 1>(f);
  }
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
