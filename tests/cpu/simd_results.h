// What every function of one level's vectors returns for a list of hard inputs, as raw bits.
//
// Included once per level by a file that first selects the instruction set, so nothing here may be
// shared between them: everything has internal linkage.
#pragma once
#include "cpu/kernels/convert.h"
#include "cpu/kernels/math.h"

namespace arion::cpu::ARION_ISA {
namespace {

// Appends 16 lanes.
struct Recorder {
  uint32_t* out;
  int count = 0;
  void add(I32 v) {
    v.store(reinterpret_cast<int32_t*>(out + count));
    count += kLanes;
  }
  // NaNs of different signs and payloads are one result.
  void add(F32 v) { add(select(is_nan(v), I32::set1(0x7fc00000), bits(v))); }
  void add(Mask m) { add(select(m, I32::set1(1), I32::zero())); }
  void add(const void* bytes, int size) {
    __builtin_memset(out + count, 0, 64);
    __builtin_memcpy(out + count, bytes, static_cast<size_t>(size));
    count += kLanes;
  }
};

__attribute__((noinline)) void record_floats(Recorder& r, const float* x, const float* y) {
  const F32 a = F32::load(x), b = F32::load(y);
  r.add(a + b), r.add(a - b), r.add(a * b), r.add(a / b), r.add(fma(a, b, a)), r.add(sqrt(a));
  r.add(abs(a)), r.add(negate(a)), r.add(max(a, b)), r.add(min(a, b));
  r.add(less(a, b)), r.add(less_equal(a, b)), r.add(equal(a, b)), r.add(is_nan(a));
  r.add(round_to_i32(a)), r.add(round_to_bf16(a)), r.add(exp(a)), r.add(silu(a)),
      r.add(gelu_tanh(a));
  r.add(F32::set1(reduce_add(a))), r.add(F32::set1(reduce_max(a)));
  alignas(64) uint16_t half[kLanes] = {};
  store_f16(half, a), r.add(half, 32), r.add(load_f16(half));
  store_bf16(half, a), r.add(half, 32), r.add(load_bf16(half));
  r.add(exp(negate(abs(a)))), r.add(exp_nonpositive(negate(abs(a))));
  for (int n = 0; n <= kLanes; ++n) {
    float few[kLanes] = {};
    uint16_t few_halves[kLanes] = {};
    r.add(F32::load_first(x, n));
    a.store_first(few, n), r.add(few, 64);
    store_f16_first(few_halves, a, n), r.add(few_halves, 32);
    store_bf16_first(few_halves, b, n), r.add(few_halves, 32);
    r.add(load_f16_first(half, n)), r.add(load_bf16_first(half, n));
    r.add(select(first_lanes(n), a, b)), r.add(first_lanes(n) & less(a, b));
  }
}

__attribute__((noinline)) void record_ints(Recorder& r, const int32_t* x, const int32_t* y) {
  const I32 a = I32::load(x), b = I32::load(y);
  r.add(a + b), r.add(a - b), r.add(a * b), r.add(a & b), r.add(a | b), r.add(a ^ b);
  r.add(shl<3>(a)), r.add(shr<5>(a)), r.add(sar<7>(a)), r.add(max(a, b)), r.add(min(a, b));
  r.add(less(a, b)), r.add(equal(a, b)), r.add(to_f32(a));
  r.add(I32::set1(reduce_add(a & I32::set1(0xffff)))), r.add(I32::set1(reduce_max(a)));
  r.add(load_u8(reinterpret_cast<const uint8_t*>(x)));
  r.add(load_i8(reinterpret_cast<const int8_t*>(x)));
  r.add(load_u16(reinterpret_cast<const uint16_t*>(x)));
  uint16_t words[kLanes];
  int8_t bytes[kLanes] = {};
  store_low16(words, a), r.add(words, 32);
  store_i8_first(bytes, a, 5), r.add(bytes, 16);
  store_i8(bytes, a), r.add(bytes, 16);
  r.add(I32::load_first(x, 9));
  const Bytes u = Bytes::load(x), low = Bytes::set1(0x0f), w = Bytes::load(y);
  r.add(lanes(u & w)), r.add(lanes(u | w)), r.add(lanes(u ^ w));
  r.add(lanes(shr_and<4>(u, low))), r.add(lanes(shl_and<2>(u, Bytes::set1(0xf0))));
  r.add(lanes(lookup16(Bytes::repeat16(x), w & low)));
  alignas(4) int8_t quad[4] = {-127, 127, 5, -3};
  r.add(dot4(a, u, quad)), r.add(dot4(I32::zero(), Bytes::set1(255), quad));
}

__attribute__((noinline)) void record_int8(Recorder& r, const float* x) {
  Int8Tile tile = {};
  store_int8_block(F32::load(x), F32::load(x + kLanes), tile, 3);
  r.add(tile.q[3], 32), r.add(F32::set1(tile.scale[3])), r.add(I32::set1(tile.neg_sum[3]));
  r.add(I32::set1(tile.neg_sum_half[0][3])), r.add(I32::set1(tile.neg_sum_half[1][3]));
}

// floats [sets][32], ints [sets][32]; returns the number of words written to out.
int record_all(const float* floats, const int32_t* ints, int sets, uint32_t* out) {
  Recorder r{out};
  for (int i = 0; i < sets; ++i) {
    record_floats(r, floats + 32 * i, floats + 32 * i + 16);
    record_ints(r, ints + 32 * i, ints + 32 * i + 16);
    record_int8(r, floats + 32 * i);
  }
  return r.count;
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
