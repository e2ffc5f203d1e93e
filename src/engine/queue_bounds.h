// How much may wait for an engine.
#pragma once
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>

namespace arion {

struct QueueLimits {
  int requests = std::numeric_limits<int>::max();
  int64_t tokens = std::numeric_limits<int64_t>::max();  // of their prompts
};

// Thread-safe. Outlives the places taken.
class QueueBounds {
 public:
  // Given back at its end.
  class Place {
   public:
    Place(QueueBounds& bounds, int tokens) : bounds_(&bounds), tokens_(tokens) {}
    ~Place() {
      if (bounds_ != nullptr) bounds_->leave(tokens_);
    }
    Place(Place&& other) noexcept
        : bounds_(std::exchange(other.bounds_, nullptr)), tokens_(other.tokens_) {}
    Place& operator=(Place&&) = delete;

   private:
    QueueBounds* bounds_;
    int tokens_;
  };

  explicit QueueBounds(const QueueLimits& limits) : limits_(limits) {}

  // Throws Error{overloaded} when there is no place. A prompt longer than the limit finds one in
  // an empty queue.
  Place enter(int tokens);

 private:
  void leave(int tokens);

  const QueueLimits limits_;
  std::mutex mutex_;
  int requests_ = 0;    // guarded by mutex_
  int64_t tokens_ = 0;  // guarded by mutex_
};

}  // namespace arion
