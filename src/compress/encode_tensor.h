// Encodes whole tensors, rows spread over workers.
#pragma once
#include <cstddef>
#include <vector>

#include "base/worker_pool.h"
#include "compress/tensor_plan.h"

namespace arion {

// Not thread-safe. Results do not depend on the number of workers.
class TensorEncoder {
 public:
  explicit TensorEncoder(WorkerPool& pool) : pool_(pool), scratch_(pool.size()) {}

  // The bytes of the tensor in its new type. Throws Error{bad_input}, naming tensor and index, when
  // a weight is NaN or infinite, or becomes so.
  std::vector<std::byte> encode(const TensorPlan& plan);

 private:
  WorkerPool& pool_;
  std::vector<std::vector<float>> scratch_;  // one row by worker
};

}  // namespace arion
