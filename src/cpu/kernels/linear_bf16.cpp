// linear and its fusions for bf16 activations: any weights, rounded to bf16.
//
// AVX512-BF16 multiplies pairs of columns with VDPBF16PS (its own arithmetic); the other levels
// widen both sides to f32 and use the f32 product.
#include "cpu/kernels/linear.h"
#include "cpu/micro/decode.h"
#if defined(ARION_ISA_avx512bf16)
#include "cpu/micro/bf16_tile.h"
#else
#include "cpu/micro/f32_tile.h"
#endif

namespace arion::cpu::ARION_ISA {
namespace {

constexpr int kSegmentCols = 256;
[[maybe_unused]] constexpr int kPlainSegmentCols = 4096;
constexpr size_t kDecodedFloats = size_t{kSegmentCols} * kLanes;  // of one panel

#if defined(ARION_ISA_avx512bf16)

constexpr const char* kArithmetic = "linear.bf16.vdpbf16ps";

// Pairs of columns rounded to bf16: [column / 2][16][2].
void round_pairs(const float* decoded, int cols, int32_t* pairs) {
  for (int c = 0; c < cols; c += 2, decoded += 2 * kLanes, pairs += kLanes) {
    const I32 even = bf16_bits(F32::load(decoded));
    // A last odd column is paired with a zero weight.
    const I32 odd = c + 1 < cols ? bf16_bits(F32::load(decoded + kLanes)) : I32::zero();
    (even | shl<16>(odd)).store(pairs);
  }
}

struct Bf16Product {
  static void compute(const TileArgs& tile) {
    const PanelMatrix& matrix = *tile.matrix;
    const size_t bytes = panel_bytes(matrix.spec, matrix.cols);
    constexpr size_t kPairs = kDecodedFloats / 2;
    int32_t* pairs = reinterpret_cast<int32_t*>(tile.scratch);
    float* decoded = reinterpret_cast<float*>(pairs + kGroupPanels * kPairs);
    const size_t x_stride = activation_stride(ActivationForm::bf16, matrix.cols);
    const std::byte* x =
        tile.args->x.at<std::byte>(tile.worker) + x_stride * static_cast<size_t>(tile.row);
    const bool is_plain = matrix.spec.codec == Codec::bf16;
    // Where nothing is decoded, streams are long: starting again costs more than activations from
    // the L2 cache.
    const int segment = is_plain ? kPlainSegmentCols : kSegmentCols;

    for (int p = 0; p < tile.panels; p += kGroupPanels) {
      const int panels = smaller(kGroupPanels, tile.panels - p);
      const std::byte* panel = matrix.panels + bytes * static_cast<size_t>(tile.panel + p);
      for (int c = 0; c < matrix.cols; c += segment) {
        const int cols = smaller(segment, matrix.cols - c);
        for (int i = 0; !is_plain && i < panels; ++i) {
          const std::byte* from = panel + bytes * static_cast<size_t>(i);
          const float* values = decoded;
          if (matrix.spec.codec == Codec::f32) {
            values = reinterpret_cast<const float*>(from) + c * kLanes;
          } else {
            decode_panel(matrix.spec, from, c, cols, decoded);
          }
          round_pairs(values, cols, pairs + kPairs * static_cast<size_t>(i));
        }
        const int32_t* stored = reinterpret_cast<const int32_t*>(panel) + c / 2 * kLanes;
        multiply_bf16_any({.weights = is_plain ? stored : pairs,
                           .panel_stride = is_plain ? bytes / sizeof(int32_t) : kPairs,
                           .x = x + 2 * c,
                           .x_stride = x_stride,
                           .cols = cols,
                           .y = tile.y + p * kLanes,
                           .y_stride = tile.y_stride,
                           .is_first = c == 0},
                          tile.rows, panels);
      }
    }
  }
};

#else

constexpr const char* kArithmetic = "linear.bf16.fma";

struct Bf16Product {
  static void compute(const TileArgs& tile) {
    const PanelMatrix& matrix = *tile.matrix;
    const size_t bytes = panel_bytes(matrix.spec, matrix.cols);
    float* decoded = reinterpret_cast<float*>(tile.scratch);
    float* widened = decoded + kGroupPanels * kDecodedFloats;  // [16][kSegmentCols]
    static_assert((kGroupPanels + 1) * kDecodedFloats * sizeof(float) <= kProductBytes);
    const size_t x_stride = activation_stride(ActivationForm::bf16, matrix.cols);
    const std::byte* x =
        tile.args->x.at<std::byte>(tile.worker) + x_stride * static_cast<size_t>(tile.row);

    for (int p = 0; p < tile.panels; p += kGroupPanels) {
      const int panels = smaller(kGroupPanels, tile.panels - p);
      const std::byte* panel = matrix.panels + bytes * static_cast<size_t>(tile.panel + p);
      for (int c = 0; c < matrix.cols; c += kSegmentCols) {
        const int cols = smaller(kSegmentCols, matrix.cols - c);
        for (int i = 0; i < panels; ++i) {
          decode_rounded(matrix.spec, panel + bytes * static_cast<size_t>(i), c, cols,
                         decoded + kDecodedFloats * static_cast<size_t>(i));
        }
        for (int r = 0; r < tile.rows; r += kTileRows) {
          const int rows = smaller(kTileRows, tile.rows - r);
          for (int i = 0; i < rows; ++i) {
            const auto* from =
                reinterpret_cast<const uint16_t*>(x + x_stride * static_cast<size_t>(r + i)) + c;
            for (int k = 0; k < cols; k += kLanes) {
              load_bf16_first(from + k, lanes_left(k, cols)).store(widened + i * kSegmentCols + k);
            }
          }
          multiply_f32_any({.weights = decoded,
                            .panel_stride = kDecodedFloats,
                            .x = widened,
                            .x_stride = kSegmentCols,
                            .cols = cols,
                            .y = tile.y + static_cast<size_t>(r) * tile.y_stride + p * kLanes,
                            .y_stride = tile.y_stride,
                            .is_first = c == 0},
                           rows, panels);
        }
      }
    }
  }

  static void decode_rounded(const PanelSpec& spec, const std::byte* panel, int c, int cols,
                             float* out) {
    const float* values = out;
    if (spec.codec == Codec::f32) {
      values = reinterpret_cast<const float*>(panel) + c * kLanes;
    } else {
      decode_panel(spec, panel, c, cols, out);
    }
    if (spec.codec == Codec::bf16) return;
    for (int i = 0; i < cols; ++i) {
      round_to_bf16(F32::load(values + i * kLanes)).store(out + i * kLanes);
    }
  }
};

#endif

bool supports(const OpDesc& op) {
  return is_linear(op.kind) && op.form == ActivationForm::bf16 && is_known_panel(op.weights);
}

}  // namespace

namespace linear_bf16 {

void register_kernels(KernelRegistry& registry) {
  registry.add({.name = ARION_KERNEL_NAME("linear.bf16"),
                .arithmetic = kArithmetic,
                .rank = kIsaRank,
                .supports = supports,
                .chunks = linear_chunks,
                .run = linear_run<Bf16Product>});
}

}  // namespace linear_bf16
}  // namespace arion::cpu::ARION_ISA
