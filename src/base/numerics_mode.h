// The floating-point mode every result relies on, for a scope: threads inherit theirs from whoever
// starts them, and hosts do set other ones.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace arion {

// Round to nearest, denormals kept, no traps; the caller's mode comes back at the end.
class NumericsMode {
 public:
#if defined(__x86_64__)
  NumericsMode() : saved_(_mm_getcsr()) {
    _mm_setcsr(0x1F80);
  }
  ~NumericsMode() {
    _mm_setcsr(saved_);
  }
#else
  NumericsMode() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~NumericsMode() {
    std::fesetenv(&saved_);
  }
#endif
  NumericsMode(const NumericsMode&) = delete;
  NumericsMode& operator=(const NumericsMode&) = delete;

 private:
#if defined(__x86_64__)
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace arion
