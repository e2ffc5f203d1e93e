#include "jinja/heap.h"

#include "base/error.h"

namespace arion::jinja {

void Heap::charge(size_t bytes) {
  if (bytes > limits_.memory_bytes - bytes_) {
    fail(ErrorCode::bad_input, "the template needs more than {} bytes of memory",
         limits_.memory_bytes);
  }
  bytes_ += bytes;
}

void Heap::spend(uint64_t steps) {
  if (steps > limits_.steps - steps_) {
    fail(ErrorCode::bad_input, "the template takes more than {} steps", limits_.steps);
  }
  steps_ += steps;
}

}  // namespace arion::jinja
