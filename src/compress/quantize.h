// Writes a model as GGUF with other tensor types.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "base/worker_pool.h"
#include "compress/importance.h"
#include "compress/mixture.h"
#include "compress/tensor_plan.h"
#include "io/gguf.h"

namespace arion {

struct QuantizePlan {
  const GgufFile* file = nullptr;
  Mixture mixture;
  const ImportanceMatrix* importance = nullptr;
  std::vector<TensorPlan> tensors;  // in the order of the file

  uint64_t bytes() const;
  uint64_t values() const;
};

// Chooses types and checks everything that needs no weights. Rows of queries and keys are put into
// GGUF's order where ARCH.rope.pairing says that they are not in it; vectors of 16 bits become F32,
// the only type that other programs add and multiply. `importance` may be null; it and `file` must
// outlive the plan. Throws Error: usage when the mixture is too coarse to do without
// importance, bad_input when the importance is of another model.
QuantizePlan plan_quantization(const GgufFile& file, const MixtureOptions& options,
                               const ImportanceMatrix* importance);

struct QuantizeOutput {
  std::filesystem::path path;
  uint64_t shard_bytes = 0;  // most bytes of tensors in one file of a split model; 0: one file
};

// Called before each tensor with the number of values written so far.
using QuantizeProgress = std::function<void(uint64_t done)>;

// The files that write_quantized will write: the path, or PATH-00001-of-0000N.gguf and so on
// without the extension of the path. Throws Error{usage} when the path itself has such a name or
// when there would be more files than a model may have.
std::vector<std::filesystem::path> output_paths(const QuantizePlan& plan,
                                                const QuantizeOutput& output);

// Writes the model; at most one tensor is in memory. All files are opened first and take their
// names when all are whole; the first of a split model, by which it is opened, is removed before
// others are replaced and comes last, so that a break between them leaves no model rather than one
// of old and new files. What `progress` throws ends the writing, and nothing has changed. Returns
// the names. Throws Error: like output_paths and
// OutputFile; bad_input naming tensor and index when a weight is NaN or infinite or too large for
// the new type; failed when the disk refuses or has too little room.
std::vector<std::filesystem::path> write_quantized(const QuantizePlan& plan,
                                                   const QuantizeOutput& output, WorkerPool& pool,
                                                   const QuantizeProgress& progress);

}  // namespace arion
