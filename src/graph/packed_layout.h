// Where the weights of a graph lie once they are packed, and the packing of each.
#pragma once
#include <cstddef>
#include <vector>

#include "base/worker_pool.h"
#include "graph/graph.h"

namespace arion {

// One weight: panels, or as many floats as it has columns.
struct PackedPlace {
  bool is_matrix = false;
  size_t offset = 0, bytes = 0;  // offsets are multiples of 64
};

struct PackedLayout {
  std::vector<PackedPlace> places;  // by weight id, ascending offsets
  size_t bytes = 0;                 // of all, a multiple of 64
};

// A function of the weights alone: neither passes nor the instruction set change it.
PackedLayout packed_layout(const Graph& graph);

// True for weights that linears or embeddings read, false for gains and biases.
std::vector<bool> find_matrices(const Graph& graph);

// Packs panels [first, first + count) of a matrix side by side into `out`, all of which is written.
void pack_panels(const Weight& weight, int first, int count, WorkerPool& pool, std::byte* out);

// Writes the floats of a vector.
void unpack_vector(const Weight& weight, std::byte* out);

}  // namespace arion
