// The vectors of level generic, for simd_test.cpp.
#define ARION_ISA generic
#define ARION_ISA_generic 1
#include "cpu/simd_results.h"

namespace arion::test {

int record_generic(const float* floats, const int32_t* ints, int sets, uint32_t* out) {
  return cpu::generic::record_all(floats, ints, sets, out);
}

}  // namespace arion::test
