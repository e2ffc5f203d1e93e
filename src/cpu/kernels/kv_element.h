// Loads of KV elements as floats, one type per KV type; all conversions are exact.
#pragma once
#include "cpu/simd/simd.h"

namespace arion::cpu::ARION_ISA {
namespace {

struct KvF32 {
  using Element = float;
  static ARION_INLINE F32 load(const float* p) { return F32::load(p); }
  static ARION_INLINE F32 load_first(const float* p, int n) { return F32::load_first(p, n); }
};

struct KvF16 {
  using Element = uint16_t;
  static ARION_INLINE F32 load(const uint16_t* p) { return load_f16(p); }
  static ARION_INLINE F32 load_first(const uint16_t* p, int n) { return load_f16_first(p, n); }
};

struct KvBf16 {
  using Element = uint16_t;
  static ARION_INLINE F32 load(const uint16_t* p) { return load_bf16(p); }
  static ARION_INLINE F32 load_first(const uint16_t* p, int n) { return load_bf16_first(p, n); }
};

}  // namespace
}  // namespace arion::cpu::ARION_ISA
