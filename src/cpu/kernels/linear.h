// The frame of every linear kernel: how a step is cut into chunks, and chunks into tiles.
//
// A granule is the smallest range of output features an epilogue can finish alone: 32 (the columns
// of one int8 block of the result), or whole heads on whole panels. An item is one granule for one
// block of rows; a chunk is a range of items. Within a chunk up to kTilePanels panels are computed
// for all rows of the block into scratch, then the epilogue runs over the rows.
#pragma once
#include "backend/kernel.h"
#include "cpu/kernels/epilogue.h"
#include "cpu/kernels/rows.h"

namespace arion::cpu::ARION_ISA {
namespace {

inline constexpr int kTilePanels = 8;
// Rows that one pass over a panel serves. With so few tiles are larger and, where all workers get
// several, begin at whole groups of panels: such products live from long streams.
#if defined(ARION_ISA_avx512) || defined(ARION_ISA_avx512bf16)
inline constexpr int kFewRows = 16;
#else
inline constexpr int kFewRows = 4;
#endif
inline constexpr int kLongTilePanels = 32;
inline constexpr int kGroupPanels = 4;
inline constexpr int kManyFeatures = 2048;

// Scratch of one worker, in bytes: results of a tile, the same for `up`, then what a product needs.
inline constexpr size_t kResultBytes = size_t{256} << 10;
inline constexpr size_t kProductBytes = size_t{384} << 10;
static_assert(2 * kResultBytes + kProductBytes <= kScratchBytes - (size_t{64} << 10));

// y[row][16 * panels] for rows [row, row + rows) and some consecutive panels.
struct TileArgs {
  const LinearArgs* args;
  const PanelMatrix* matrix;
  int worker;
  int row, rows;  // row is a multiple of 16
  int panel, panels;
  float* y;
  size_t y_stride;     // floats between rows
  std::byte* scratch;  // kProductBytes, 64-byte aligned
};

struct LinearShape {
  int rows;
  int granule;  // output features
  int granules;
  int tile_granules;  // computed together
  int row_block;      // rows of one item
  int row_blocks;
};

ARION_INLINE int smaller(int a, int b) {
  return a < b ? a : b;
}
ARION_INLINE int larger(int a, int b) {
  return a > b ? a : b;
}

ARION_INLINE int whole_heads(int head_dim) {
  int features = head_dim;
  while (features % kPanelRows != 0) features += head_dim;  // at most 16 times
  return features;
}

ARION_INLINE LinearShape linear_shape(const LinearArgs& args, const StepInput& input) {
  LinearShape shape;
  shape.rows = input.rows(args.rows).count;
  const bool is_head = args.kind == OpKind::linear_head;
  const bool is_few = shape.rows <= kFewRows;
  const bool has_long_streams = is_few && args.weight.rows >= kManyFeatures;
  shape.granule = is_head            ? whole_heads(args.head.head_dim)
                  : has_long_streams ? kGroupPanels * kPanelRows
                                     : kTileCols;
  shape.granules = (args.weight.rows + shape.granule - 1) / shape.granule;
  const int panels = is_few ? kLongTilePanels : kTilePanels;
  shape.tile_granules = larger(1, panels * kPanelRows / shape.granule);
  // The results of a tile must fit the scratch, and the activations of a block stay in the L2
  // cache.
  const int tile_cols = shape.granule * shape.tile_granules;
  const int fit = static_cast<int>(kResultBytes / sizeof(float)) / tile_cols;
  const size_t row_bytes = activation_bytes(args.form, kTileRows, args.weight.cols) / kTileRows;
  const int cached = static_cast<int>((size_t{1} << 20) / row_bytes);
  shape.row_block = larger(kTileRows, smaller(fit, cached) / kTileRows * kTileRows);
  shape.row_blocks = (shape.rows + shape.row_block - 1) / shape.row_block;
  return shape;
}

inline int linear_chunks(const void* pointer, const StepInput& input, int workers) {
  const LinearArgs& args = *static_cast<const LinearArgs*>(pointer);
  const LinearShape shape = linear_shape(args, input);
  const int64_t items = int64_t{shape.granules} * shape.row_blocks;
  // About 10 us each, when one core streams 20 bytes and multiplies 300 pairs per ns.
  const int matrices = args.kind == OpKind::linear_glu ? 2 : 1;
  const int64_t bytes = static_cast<int64_t>(panel_bytes(args.weight.spec, args.weight.cols)) *
                        panel_count(args.weight.rows) * matrices;
  const int64_t pairs = int64_t{args.weight.rows} * args.weight.cols * shape.rows * matrices;
  const int64_t us = bytes / 20000 + pairs / 300000;
  // Enough that a worker that lags leaves work to others, few enough that ranges stay long.
  const int64_t most = int64_t{workers} * 8;
  int64_t chunks = us / 10 / workers * workers;
  if (chunks > most) chunks = most;
  if (chunks < workers) chunks = workers;
  if (chunks > items) chunks = items;
  // Few items that cannot be shared evenly, heads above all, are claimed one by one: else the same
  // workers get the larger ranges of step after step.
  if (chunks > 0 && items % chunks != 0 && items <= most) chunks = items;
  return chunks < 1 ? 1 : static_cast<int>(chunks);
}

// Product::compute(const TileArgs&) fills y.
template <typename Product>
void linear_run(const void* pointer, const StepInput& input, int chunk, int chunks,
                const Worker& worker) {
  const LinearArgs& args = *static_cast<const LinearArgs*>(pointer);
  const LinearShape shape = linear_shape(args, input);
  const int64_t items = int64_t{shape.granules} * shape.row_blocks;
  int64_t item = items * chunk / chunks;
  const int64_t end = items * (chunk + 1) / chunks;

  float* y = reinterpret_cast<float*>(worker.scratch);
  float* up = reinterpret_cast<float*>(worker.scratch + kResultBytes);
  std::byte* scratch = worker.scratch + 2 * kResultBytes;
  const Worker inner{.index = worker.index, .scratch = scratch + kProductBytes};  // for apply_head

  while (item < end) {
    const int block = static_cast<int>(item / shape.granules);
    const int granule = static_cast<int>(item % shape.granules);
    int64_t count = shape.granules - granule;
    if (count > end - item) count = end - item;
    const int granules = smaller(shape.tile_granules, static_cast<int>(count));
    item += granules;

    const int begin = granule * shape.granule;
    const int features = smaller(granules * shape.granule, args.weight.rows - begin);
    const int row = block * shape.row_block;
    TileArgs tile{.args = &args,
                  .matrix = &args.weight,
                  .worker = worker.index,
                  .row = row,
                  .rows = smaller(shape.row_block, shape.rows - row),
                  .panel = begin / kPanelRows,
                  .panels = panel_count(features),
                  .y = y,
                  .y_stride = static_cast<size_t>(panel_count(features)) * kPanelRows,
                  .scratch = scratch};
    Product::compute(tile);
    if (args.kind == OpKind::linear_glu) {
      tile.matrix = &args.up;
      tile.y = up;
      Product::compute(tile);
    }
    for (int r = 0; r < tile.rows; ++r) {
      const size_t offset = static_cast<size_t>(r) * tile.y_stride;
      const EpilogueRow part{row + r, begin, features, y + offset, up + offset};
      finish_row(args, input, part, inner);
    }
  }
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
