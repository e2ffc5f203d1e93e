// Weights in memory of their own, or in a mapped file.
#include "graph/packed_weights.h"

#include <utility>

#include "base/check.h"
#include "graph/packed_layout.h"

namespace arion {

size_t packed_bytes(const Graph& graph) {
  return packed_layout(graph).bytes;
}

PackedWeights::PackedWeights(const Graph& graph)
    : matrices_(graph.weights.size()), vectors_(graph.weights.size(), nullptr) {
  for (size_t w = 0; w < graph.weights.size(); ++w) {
    const Weight& weight = graph.weights[w];
    matrices_[w] = {.spec = weight.format->panel(),
                    .rows = weight.rows,
                    .cols = weight.cols,
                    .scale = weight.scale};
  }
}

PackedWeights PackedWeights::shapes_of(const Graph& graph) {
  return PackedWeights(graph);
}

PackedWeights::PackedWeights(const Graph& graph, WorkerPool& pool,
                             const std::function<void(const Weight&)>& on_packed)
    : PackedWeights(graph) {
  const PackedLayout layout = packed_layout(graph);
  memory_ = Memory(layout.bytes);
  total_bytes_ = layout.bytes;
  for (size_t w = 0; w < graph.weights.size(); ++w) {
    const Weight& weight = graph.weights[w];
    std::byte* const at = memory_.data() + layout.places[w].offset;
    if (layout.places[w].is_matrix) {
      pack_panels(weight, 0, panel_count(weight.rows), pool, at);
    } else {
      unpack_vector(weight, at);
    }
    if (on_packed) on_packed(weight);
  }
  point_to(layout, memory_.data());
}

PackedWeights::PackedWeights(const Graph& graph, MappedFile file, size_t offset)
    : PackedWeights(graph) {
  const PackedLayout layout = packed_layout(graph);
  file_ = std::move(file);
  total_bytes_ = layout.bytes;
  CHECK(offset % 64 == 0 && offset <= file_.bytes().size() &&
        layout.bytes <= file_.bytes().size() - offset);
  point_to(layout, file_.bytes().data() + offset);
}

void PackedWeights::point_to(const PackedLayout& layout, const std::byte* base) {
  for (size_t w = 0; w < layout.places.size(); ++w) {
    const std::byte* const at = base + layout.places[w].offset;
    if (layout.places[w].is_matrix) {
      matrices_[w].panels = at;
    } else {
      vectors_[w] = reinterpret_cast<const float*>(at);
    }
  }
}

size_t PackedWeights::matrix_bytes(WeightId id) const {
  const PanelMatrix& m = matrix(id);
  return static_cast<size_t>(panel_count(m.rows)) * panel_bytes(m.spec, m.cols);
}

}  // namespace arion
