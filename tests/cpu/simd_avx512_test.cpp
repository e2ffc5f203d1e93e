// The vectors of level avx512, for simd_test.cpp.
// As in simd/avx512.h.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop

#include <bit>
#include <cstring>

#include "base/half.h"
#include "op/kernel_args.h"
#if defined(__clang__)
#pragma clang attribute push(                                                                   \
    __attribute__((                                                                             \
        target("avx,avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi"))), \
    apply_to = function)
#else
#pragma GCC target("avx,avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi")
#endif
#define ARION_ISA avx512
#define ARION_ISA_avx512 1
#include "cpu/simd_results.h"

namespace arion::test {

int record_avx512(const float* floats, const int32_t* ints, int sets, uint32_t* out) {
  return cpu::avx512::record_all(floats, ints, sets, out);
}

}  // namespace arion::test
#if defined(__clang__)
#pragma clang attribute pop
#endif
