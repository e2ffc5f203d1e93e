// linear and its fusions for f32 activations: any weights, decoded exactly, f32 fma.
#include "cpu/kernels/linear.h"
#include "cpu/micro/decode.h"
#include "cpu/micro/f32_tile.h"

namespace arion::cpu::ARION_ISA {
namespace {

// Columns decoded at once: a panel then takes 16 KiB, a group of four 64 KiB of the L2 cache.
constexpr int kSegmentCols = 256;
// A tile has more panels than are decoded at once, so they go in turns.
constexpr size_t kDecodedFloats = size_t{kSegmentCols} * kLanes;
static_assert(kGroupPanels * kDecodedFloats * sizeof(float) <= kProductBytes);

struct F32Product {
  static void compute(const TileArgs& tile) {
    const PanelMatrix& matrix = *tile.matrix;
    const size_t bytes = panel_bytes(matrix.spec, matrix.cols);
    float* decoded = reinterpret_cast<float*>(tile.scratch);
    const float* x = f32_row(tile.args->x, tile.worker, matrix.cols, tile.row);
    const bool is_plain = matrix.spec.codec == Codec::f32;

    for (int p = 0; p < tile.panels; p += kGroupPanels) {
      const int panels = smaller(kGroupPanels, tile.panels - p);
      const std::byte* panel = matrix.panels + bytes * static_cast<size_t>(tile.panel + p);
      for (int c = 0; c < matrix.cols; c += kSegmentCols) {
        const int cols = smaller(kSegmentCols, matrix.cols - c);
        for (int i = 0; !is_plain && i < panels; ++i) {
          decode_panel(matrix.spec, panel + bytes * static_cast<size_t>(i), c, cols,
                       decoded + kDecodedFloats * static_cast<size_t>(i));
        }
        const float* stored = reinterpret_cast<const float*>(panel) + c * kLanes;
        multiply_f32_any({.weights = is_plain ? stored : decoded,
                          .panel_stride = is_plain ? bytes / sizeof(float) : kDecodedFloats,
                          .x = x + c,
                          .x_stride = activation_stride(ActivationForm::f32, matrix.cols) / 4,
                          .cols = cols,
                          .y = tile.y + p * kLanes,
                          .y_stride = tile.y_stride,
                          .is_first = c == 0},
                         tile.rows, panels);
      }
    }
  }
};

bool supports(const OpDesc& op) {
  return is_linear(op.kind) && op.form == ActivationForm::f32 && is_known_panel(op.weights);
}

}  // namespace

namespace linear_f32 {

void register_kernels(KernelRegistry& registry) {
  registry.add({.name = ARION_KERNEL_NAME("linear.f32"),
                .arithmetic = "linear.f32.fma",
                .rank = kIsaRank,
                .supports = supports,
                .chunks = linear_chunks,
                .run = linear_run<F32Product>});
}

}  // namespace linear_f32
}  // namespace arion::cpu::ARION_ISA
