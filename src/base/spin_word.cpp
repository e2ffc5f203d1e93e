// Waiting in two stages.
#include "base/spin_word.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/worker_count.h"

namespace arion {
namespace {

// About 50 us of spinning, well above the skew between chunks of one step.
constexpr int kPauses = 2000;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

SpinWord::SpinWord(int threads) : pauses_(threads <= usable_cpu_count() ? kPauses : 0) {}

// A sleeper counts itself, then looks at the value; here the value is written, then the count
// looked at. Sequentially consistent, so one of the two sees the other.
void SpinWord::set(uint32_t value) {
  value_.store(value, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) value_.notify_all();
}

void SpinWord::wait_while(uint32_t old) {
  for (int i = 0; i < pauses_; ++i) {
    if (load() != old) return;
    pause();
  }
  // Not by yielding: who yields comes back after the others' whole time slices, who sleeps is let
  // in at once when it is woken.
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  value_.wait(old, std::memory_order_seq_cst);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace arion
