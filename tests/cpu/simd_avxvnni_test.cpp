// The vectors of level avxvnni, for simd_test.cpp.
#include <immintrin.h>

#include <bit>
#include <cstring>

#include "base/half.h"
#include "op/kernel_args.h"
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx,avx2,fma,f16c,avxvnni"))), \
                             apply_to = function)
#else
#pragma GCC target("avx,avx2,fma,f16c,avxvnni")
#endif
#define ARION_ISA avxvnni
#define ARION_ISA_avxvnni 1
#include "cpu/simd_results.h"

namespace arion::test {

int record_avxvnni(const float* floats, const int32_t* ints, int sets, uint32_t* out) {
  return cpu::avxvnni::record_all(floats, ints, sets, out);
}

}  // namespace arion::test
#if defined(__clang__)
#pragma clang attribute pop
#endif
