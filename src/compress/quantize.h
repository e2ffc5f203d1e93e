// Writes a GGUF model again with other tensor types.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "base/worker_pool.h"
#include "compress/importance.h"
#include "compress/mixture.h"
#include "io/gguf.h"

namespace arion {

// What becomes of one tensor.
struct TensorPlan {
  const GgufTensor* source = nullptr;
  uint32_t type = 0;    // ggml type id
  uint32_t wanted = 0;  // what the mixture said; differs where rows do not divide into its blocks
  const ImportanceSums* importance = nullptr;  // null: none for this tensor

  uint64_t bytes() const;
  bool is_fallback() const { return type != wanted; }
  bool is_changed() const { return type != source->type; }
};

struct QuantizePlan {
  const GgufFile* file = nullptr;
  Mixture mixture;
  const ImportanceMatrix* importance = nullptr;
  std::vector<TensorPlan> tensors;  // in the order of the file

  uint64_t bytes() const;
  uint64_t values() const;
};

// Chooses types and checks everything that needs no weights. `importance` may be null; it and
// `file` must outlive the plan. Throws Error: usage when the mixture is too coarse to do without
// importance, bad_input when the importance is of another model.
QuantizePlan plan_quantization(const GgufFile& file, const MixtureOptions& options,
                               const ImportanceMatrix* importance);

struct QuantizeOutput {
  std::filesystem::path path;
  uint64_t shard_bytes = 0;  // most bytes of tensors in one file of a split model; 0: one file
};

// Called before each tensor with the number of values written so far.
using QuantizeProgress = std::function<void(uint64_t done)>;

// Writes the model; at most one tensor is in memory. Files appear under their names only when they
// are whole, and the first of a split model last. Returns their names. Throws Error: bad_input
// naming tensor and index when a weight is NaN or infinite or too large for the new type, failed
// when the disk refuses.
std::vector<std::filesystem::path> write_quantized(const QuantizePlan& plan,
                                                   const QuantizeOutput& output, WorkerPool& pool,
                                                   const QuantizeProgress& progress);

}  // namespace arion
