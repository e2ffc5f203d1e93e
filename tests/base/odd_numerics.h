// A floating-point mode as a host might leave it: rounding up, and no denormals where that exists.
#pragma once
#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace arion::test {

class OddNumerics {
 public:
  OddNumerics() {
    std::fegetenv(&saved_);
    std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero
#endif
  }
  ~OddNumerics() {
    std::fesetenv(&saved_);
  }
  OddNumerics(const OddNumerics&) = delete;
  OddNumerics& operator=(const OddNumerics&) = delete;

 private:
  std::fenv_t saved_;
};

}  // namespace arion::test
