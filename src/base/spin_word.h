// A number that threads wait on for microseconds: they spin, then sleep.
#pragma once
#include <atomic>
#include <cstdint>

namespace arion {

// One thread at a time sets it, any number wait; it must outlive both. Setting makes a system call
// only if somebody sleeps.
class SpinWord {
 public:
  // `threads` of the process run at the same time: if there are fewer CPUs nobody spins.
  explicit SpinWord(int threads);

  uint32_t load() const { return value_.load(std::memory_order_acquire); }
  void set(uint32_t value);
  void wait_while(uint32_t old);  // returns once the value is another one

 private:
  const int pauses_;
  alignas(64) std::atomic<uint32_t> value_{0};
  std::atomic<int> sleepers_{0};
};

}  // namespace arion
