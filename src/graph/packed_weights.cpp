// Finds out which weights are matrices, sizes them, and packs panel by panel on all workers.
#include "graph/packed_weights.h"

#include <algorithm>

#include "base/check.h"

namespace arion {
namespace {

constexpr size_t kWeightAlignment = 64;

size_t matrix_size(const Weight& weight) {
  return static_cast<size_t>(panel_count(weight.rows)) *
         panel_bytes(weight.format->panel(), weight.cols);
}

size_t packed_size(const Weight& weight, bool is_matrix) {
  const size_t bytes =
      is_matrix ? matrix_size(weight) : static_cast<size_t>(weight.cols) * sizeof(float);
  return round_up(bytes, kWeightAlignment);
}

PanelMatrix shape_of(const Weight& weight) {
  return {.spec = weight.format->panel(),
          .rows = weight.rows,
          .cols = weight.cols,
          .scale = weight.scale};
}

void pack_panel(const Weight& weight, int panel, std::byte* out) {
  const size_t row_bytes = weight.format->row_bytes(weight.cols);
  const int first = panel * kPanelRows;
  const int rows = std::min(kPanelRows, weight.rows - first);
  const auto source = weight.data.subspan(static_cast<size_t>(first) * row_bytes,
                                          static_cast<size_t>(rows) * row_bytes);
  const size_t bytes = panel_bytes(weight.format->panel(), weight.cols);
  weight.format->pack(source, weight.cols, {out + static_cast<size_t>(panel) * bytes, bytes});
}

}  // namespace

std::vector<bool> find_matrices(const Graph& graph) {
  std::vector<bool> is_matrix(graph.weights.size(), false);
  auto mark = [&](WeightId id) { is_matrix[static_cast<size_t>(id.index)] = true; };
  for (const Node& node : graph.nodes) {
    switch (node.kind) {
      case OpKind::linear_glu:
        mark(node.weights[1]);
        [[fallthrough]];
      case OpKind::embed:
      case OpKind::linear:
      case OpKind::linear_add:
      case OpKind::linear_head:
        mark(node.weights[0]);
        break;
      default:
        break;
    }
  }
  return is_matrix;
}

size_t packed_bytes(const Graph& graph) {
  const std::vector<bool> is_matrix = find_matrices(graph);
  size_t bytes = 0;
  for (size_t w = 0; w < graph.weights.size(); ++w) {
    bytes += packed_size(graph.weights[w], is_matrix[w]);
  }
  return bytes;
}

PackedWeights::PackedWeights(const Graph& graph)
    : matrices_(graph.weights.size()), vectors_(graph.weights.size(), nullptr) {
  for (size_t w = 0; w < graph.weights.size(); ++w) {
    const Weight& weight = graph.weights[w];
    matrices_[w] = shape_of(weight);
  }
}

PackedWeights PackedWeights::shapes_of(const Graph& graph) {
  return PackedWeights(graph);
}

PackedWeights::PackedWeights(const Graph& graph, WorkerPool& pool,
                             const std::function<void(const Weight&)>& on_packed)
    : memory_(packed_bytes(graph)),
      matrices_(graph.weights.size()),
      vectors_(graph.weights.size(), nullptr) {
  const std::vector<bool> is_matrix = find_matrices(graph);
  std::byte* at = memory_.data();
  for (size_t w = 0; w < graph.weights.size(); ++w) {
    const Weight& weight = graph.weights[w];
    CHECK(weight.data.size() ==
          static_cast<size_t>(weight.rows) * weight.format->row_bytes(weight.cols));
    if (is_matrix[w]) {
      matrices_[w] = shape_of(weight);
      matrices_[w].panels = at;
      pool.for_each(panel_count(weight.rows), [&](int panel) { pack_panel(weight, panel, at); });
    } else {
      auto* out = reinterpret_cast<float*>(at);
      weight.format->decode_row(weight.data, {out, static_cast<size_t>(weight.cols)});
      vectors_[w] = out;
    }
    at += packed_size(weight, is_matrix[w]);
    if (on_packed) on_packed(weight);
  }
}

size_t PackedWeights::matrix_bytes(WeightId id) const {
  const PanelMatrix& m = matrix(id);
  return static_cast<size_t>(panel_count(m.rows)) * panel_bytes(m.spec, m.cols);
}

}  // namespace arion
