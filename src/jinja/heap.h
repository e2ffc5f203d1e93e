// Memory and work of one rendering: everything is freed at once, and there is only so much of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

namespace arion::jinja {

// Far beyond what real templates need; a request that reaches one is refused.
struct Limits {
  uint64_t steps = 20'000'000;              // evaluated nodes, visited elements
  size_t memory_bytes = size_t{256} << 20;  // values made
  size_t output_bytes = size_t{64} << 20;
  uint32_t depth = 800;  // nested statements, expressions and calls being evaluated
};

struct Object {
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;
};

// Owns objects; values point to them and must not outlive it. Objects may form cycles. Used by one
// thread.
class Heap {
 public:
  explicit Heap(Limits limits = {}) : limits_(limits) {}

  template <typename T, typename... Args>
  T* make(Args&&... args) {
    charge(sizeof(T) + kObjectOverhead);
    auto object = std::make_unique<T>(std::forward<Args>(args)...);
    T* const raw = object.get();
    objects_.push_back(std::move(object));
    return raw;
  }

  // Counts memory about to be taken; throws Error{bad_input} beyond the limit.
  void charge(size_t bytes);
  // Counts work about to be done; throws Error{bad_input} beyond the limit.
  void spend(uint64_t steps = 1);
  const Limits& limits() const { return limits_; }

 private:
  static constexpr size_t kObjectOverhead = 32;  // of the allocator and of the list of objects

  Limits limits_;
  size_t bytes_ = 0;
  uint64_t steps_ = 0;
  std::deque<std::unique_ptr<Object>> objects_;
};

}  // namespace arion::jinja
