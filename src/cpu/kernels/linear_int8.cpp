// linear and its fusions for int8 activations: one kernel per codec and scale mode.
#include "cpu/kernels/linear.h"
#include "cpu/micro/int8_tile.h"

namespace arion::cpu::ARION_ISA {
namespace {

// Blocks of one pass over the panels of a tile: all columns of most matrices. 16 rows of
// activations then leave the L1 cache, but they are read ahead like the panels, and streams that
// never start again are worth more.
constexpr int kSegmentBlocks = 512;
static_assert(kSegmentBlocks * sizeof(RowTerms) <= kProductBytes);

// Rows a call can take, with the panels it can take beside them. 16 accumulators of the 32 AVX-512
// registers; the other levels have 16 registers of half the size.
#if defined(ARION_ISA_avx512)
constexpr int kMaxRows = 16;
constexpr int kStreams = 4;
constexpr int kPairs = 2;
#elif defined(ARION_ISA_generic)
constexpr int kMaxRows = 1;
constexpr int kStreams = 1;
constexpr int kPairs = 1;
#else
constexpr int kMaxRows = 4;
constexpr int kStreams = 1;
constexpr int kPairs = 1;
#endif

template <Codec kCodec, ScaleMode kMode>
struct Int8Product {
  // R panels at once, which lie `length` apart: each is the beginning of a long stream for the
  // prefetchers of the memory, which would run beyond the end of a single panel.
  template <int R, int T>
  static ARION_INLINE void panels_of(Int8TileArgs call, int length) {
    call.panel_stride = call.next_stride * static_cast<size_t>(length);
    call.y_panel = static_cast<size_t>(length) * kLanes;
    for (int p = 0; p < length; ++p) {
      multiply_int8<kCodec, kMode, R, T>(call);
      call.panel += call.next_stride;
      call.y += kLanes;
    }
  }

  // Rows in powers of two, from the largest; every size runs the same arithmetic. A single missing
  // row is computed of whatever lies there: one pass over the panels less.
  template <int T>
  static ARION_INLINE void rows_of(Int8TileArgs& call, int& left, int panels) {
    // With sums of two halves 8 rows of 2 panels would not fit the registers.
    constexpr int R = T <= 4 ? kStreams : T <= 8 && !kHasHalves<kMode> ? kPairs : 1;
    constexpr int kLeast = kMaxRows >= 16 && T >= 4 ? T - 1 : T;
    while (left >= kLeast) {
      panels_of<R, T>(call, panels / R);
      Int8TileArgs last = call;
      last.panel += static_cast<size_t>(panels / R * R) * call.next_stride;
      last.y += panels / R * R * kLanes;
      panels_of<1, T>(last, panels % R);
      call.lane += T;
      call.y += T * call.y_stride;
      left -= T;
    }
  }

  static void compute(const TileArgs& tile) {
    const PanelMatrix& matrix = *tile.matrix;
    const size_t stride = panel_bytes(matrix.spec, matrix.cols);
    const std::byte* panel = matrix.panels + stride * static_cast<size_t>(tile.panel);
    const int blocks = (matrix.cols + kBlockCols - 1) / kBlockCols;
    constexpr int kPerSuperblock = superblock_cols(kMode) / kBlockCols;
    auto* terms = reinterpret_cast<RowTerms*>(tile.scratch);

    for (int r = 0; r < tile.rows; r += kTileRows) {
      const int rows = smaller(kTileRows, tile.rows - r);
      const Int8Tile* tiles =
          int8_tile(tile.args->x.at<std::byte>(tile.worker), matrix.cols, tile.row + r, 0);
      for (int b = 0; b < blocks; b += kSegmentBlocks) {
        const int count = smaller(kSegmentBlocks, blocks - b);
        fill_terms<kCodec, kMode>(tiles + b, rows, count, matrix.spec.zero, terms);
        Int8TileArgs call{.panel = panel + superblock_bytes(matrix.spec) *
                                               static_cast<size_t>(b / kPerSuperblock),
                          .next_stride = stride,
                          .table = matrix.spec.table,
                          .tiles = tiles + b,
                          .terms = terms,
                          .lane = 0,
                          .blocks = count,
                          .y = tile.y + static_cast<size_t>(r) * tile.y_stride,
                          .y_stride = tile.y_stride,
                          .is_first = b == 0};
        int left = rows;
        if constexpr (kMaxRows >= 16) rows_of<16>(call, left, tile.panels);
        if constexpr (kMaxRows >= 8) rows_of<8>(call, left, tile.panels);
        if constexpr (kMaxRows >= 4) {
          rows_of<4>(call, left, tile.panels);
          rows_of<2>(call, left, tile.panels);
        }
        rows_of<1>(call, left, tile.panels);
      }
    }
  }

  static bool supports(const OpDesc& op) {
    return is_linear(op.kind) && op.form == ActivationForm::int8 && op.weights.codec == kCodec &&
           op.weights.mode == kMode;
  }
};

template <Codec kCodec, ScaleMode kMode>
void add(KernelRegistry& registry, const char* name, const char* arithmetic) {
  using Product = Int8Product<kCodec, kMode>;
  registry.add({.name = name,
                .arithmetic = arithmetic,
                .rank = kIsaRank,
                .supports = Product::supports,
                .chunks = linear_chunks,
                .run = linear_run<Product>});
}

}  // namespace

namespace linear_int8 {

void register_kernels(KernelRegistry& registry) {
#define ARION_ADD(codec, mode)                                                                     \
  add<Codec::codec, ScaleMode::mode>(registry, ARION_KERNEL_NAME("linear.int8." #codec "." #mode), \
                                     "linear.int8." #mode);
  ARION_PANEL_KINDS(ARION_ADD)
#undef ARION_ADD
}

}  // namespace linear_int8
}  // namespace arion::cpu::ARION_ISA
