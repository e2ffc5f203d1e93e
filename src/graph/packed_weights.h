// The weights of a graph in the form kernels read: panels for matrices, f32 for vectors.
#pragma once
#include <functional>
#include <vector>

#include "base/mapped_file.h"
#include "base/worker_pool.h"
#include "graph/graph.h"
#include "graph/packed_layout.h"
#include "op/kernel_args.h"
#include "tensor/memory.h"

namespace arion {

// Immutable after construction and thread-safe.
class PackedWeights {
 public:
  // Packs tensor by tensor; `on_packed` is called after each so that its source can be dropped and
  // progress shown. The source data of the graph's weights is not read afterwards.
  PackedWeights(const Graph& graph, WorkerPool& pool,
                const std::function<void(const Weight&)>& on_packed);

  // What a file holds from `offset` on, a multiple of 64, laid out as packed_layout says.
  PackedWeights(const Graph& graph, MappedFile file, size_t offset);

  // Shapes only, no data: for plans that are looked at and never run.
  static PackedWeights shapes_of(const Graph& graph);

  const PanelMatrix& matrix(WeightId id) const { return matrices_[static_cast<size_t>(id.index)]; }
  // Null for an absent id.
  const float* vector(WeightId id) const {
    return id ? vectors_[static_cast<size_t>(id.index)] : nullptr;
  }
  // Bytes one pass over the matrix reads.
  size_t matrix_bytes(WeightId id) const;
  size_t total_bytes() const { return total_bytes_; }

 private:
  explicit PackedWeights(const Graph& graph);
  void point_to(const PackedLayout& layout, const std::byte* base);

  Memory memory_;    // or
  MappedFile file_;  // what holds the weights
  size_t total_bytes_ = 0;
  std::vector<PanelMatrix> matrices_;  // by weight id; panels null for vectors
  std::vector<const float*> vectors_;  // by weight id; null for matrices
};

// Bytes PackedWeights will hold, without touching the data.
size_t packed_bytes(const Graph& graph);

}  // namespace arion
