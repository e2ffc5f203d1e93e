// Finds out which weights are matrices, sizes them, and packs panel by panel on all workers.
#include "graph/packed_layout.h"

#include <algorithm>

#include "base/check.h"
#include "tensor/activation.h"

namespace arion {
namespace {

constexpr size_t kWeightAlignment = 64;

size_t packed_size(const Weight& weight, bool is_matrix) {
  if (!is_matrix) return static_cast<size_t>(weight.cols) * sizeof(float);
  return static_cast<size_t>(panel_count(weight.rows)) *
         panel_bytes(weight.format->panel(), weight.cols);
}

void check_data(const Weight& weight) {
  CHECK(weight.data.size() ==
        static_cast<size_t>(weight.rows) * weight.format->row_bytes(weight.cols));
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

PackedLayout packed_layout(const Graph& graph) {
  const std::vector<bool> is_matrix = find_matrices(graph);
  PackedLayout layout;
  for (size_t w = 0; w < graph.weights.size(); ++w) {
    const size_t bytes = packed_size(graph.weights[w], is_matrix[w]);
    layout.places.push_back({.is_matrix = is_matrix[w], .offset = layout.bytes, .bytes = bytes});
    layout.bytes += round_up(bytes, kWeightAlignment);
  }
  return layout;
}

void pack_panels(const Weight& weight, int first, int count, WorkerPool& pool, std::byte* out) {
  check_data(weight);
  const size_t row_bytes = weight.format->row_bytes(weight.cols);
  const size_t bytes = panel_bytes(weight.format->panel(), weight.cols);
  pool.for_each(count, [&](int i) {
    const int row = (first + i) * kPanelRows;
    const int rows = std::min(kPanelRows, weight.rows - row);
    const auto source = weight.data.subspan(static_cast<size_t>(row) * row_bytes,
                                            static_cast<size_t>(rows) * row_bytes);
    weight.format->pack(source, weight.cols, {out + static_cast<size_t>(i) * bytes, bytes});
  });
}

void unpack_vector(const Weight& weight, std::byte* out) {
  check_data(weight);
  weight.format->decode_row(weight.data,
                            {reinterpret_cast<float*>(out), static_cast<size_t>(weight.cols)});
}

}  // namespace arion
