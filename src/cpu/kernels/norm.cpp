// Residual addition, rms_norm and conversions: whole rows, split by rows.
#include "cpu/kernels/convert.h"
#include "cpu/kernels/rms.h"
#include "cpu/kernels/rows.h"

namespace arion::cpu::ARION_ISA {
namespace {

// Columns that pass through scratch at a time: in the L1 cache, whole int8 blocks.
constexpr int kPassCols = 1024;

void zero_padding(float* row, int cols) {
  for (int c = cols; c < padded_cols(cols); ++c) row[c] = 0;
}

// The residual sum of one row: x, plus the delta, which is normalised first when it has a gain.
struct RowSum {
  const float* x;
  const float* delta;       // null = none
  const float* delta_gain;  // null = not normalised
  F32 delta_inverse;

  // Columns [c, c + n), zero in the other lanes.
  ARION_INLINE F32 load(int c, int n) const {
    const F32 v = F32::load_first(x + c, n);
    if (delta == nullptr) return v;
    const F32 d = F32::load_first(delta + c, n);
    if (delta_gain == nullptr) return v + d;
    return v + (d * delta_inverse) * F32::load_first(delta_gain + c, n);
  }
};

void norm_row(const NormArgs& args, int row, const Worker& worker) {
  const int cols = args.cols;
  RowSum s{f32_row(args.x, worker.index, cols, row), nullptr, args.delta_gain, F32::zero()};
  if (args.delta) {
    s.delta = f32_row(args.delta, worker.index, cols, row);
    if (args.delta_gain != nullptr) s.delta_inverse = inverse_rms(s.delta, cols, args.eps);
  }
  float* sum = args.sum ? f32_row(args.sum, worker.index, cols, row) : nullptr;
  F32 squares = F32::zero();
  for (int c = 0; c < cols; c += kLanes) {
    const int n = lanes_left(c, cols);
    const F32 v = s.load(c, n);
    squares = fma(v, v, squares);
    if (sum != nullptr) v.store_first(sum + c, n);
  }
  if (sum != nullptr) {
    zero_padding(sum, cols);
    s = {sum, nullptr, nullptr, F32::zero()};  // x may be gone: sum may have replaced it
  }
  if (args.gain == nullptr) return;
  const F32 inverse = inverse_rms(squares, cols, args.eps);
  float* y = reinterpret_cast<float*>(worker.scratch);
  for (int begin = 0; begin < cols; begin += kPassCols) {
    const int end = begin + kPassCols < cols ? begin + kPassCols : cols;
    for (int c = begin; c < end; c += kLanes) {
      const int n = lanes_left(c, end);
      const F32 v = (s.load(c, n) * inverse) * F32::load_first(args.gain + c, n);
      v.store_first(y + c - begin, n);
    }
    store_outputs(args.out, worker.index, y, begin, end - begin, cols, row);
  }
}

void convert_row(const ConvertArgs& args, int row, const Worker& worker) {
  const float* x = f32_row(args.x, worker.index, args.cols, row);
  store_outputs(args.out, worker.index, x, 0, args.cols, args.cols, row);
}

void add_row(const AddArgs& args, int row, const Worker& worker) {
  const float* a = f32_row(args.a, worker.index, args.cols, row);
  const float* b = f32_row(args.b, worker.index, args.cols, row);
  float* out = f32_row(args.out, worker.index, args.cols, row);
  for (int c = 0; c < args.cols; c += kLanes) {
    const int n = lanes_left(c, args.cols);
    (F32::load_first(a + c, n) + F32::load_first(b + c, n)).store_first(out + c, n);
  }
  zero_padding(out, args.cols);
}

template <typename Args>
int chunks(const void* args, const StepInput& input, int /*workers*/) {
  constexpr float kNsPerElement = 0.5f;
  const auto& a = *static_cast<const Args*>(args);
  return row_chunks(input.rows(a.rows).count, kNsPerElement * static_cast<float>(a.cols));
}

template <typename Args, void (*one_row)(const Args&, int, const Worker&)>
void run(const void* args, const StepInput& input, int chunk, int chunks, const Worker& worker) {
  const auto& a = *static_cast<const Args*>(args);
  const Range rows = rows_of_chunk(input.rows(a.rows).count, chunk, chunks);
  for (int row = rows.begin; row < rows.end; ++row) one_row(a, row, worker);
}

}  // namespace

namespace norm {

void register_kernels(KernelRegistry& registry) {
  registry.add({.name = ARION_KERNEL_NAME("norm"),
                .arithmetic = "norm.rms.f32",
                .rank = kIsaRank,
                .supports = supports_kinds<OpKind::rms_norm, OpKind::norm>,
                .chunks = chunks<NormArgs>,
                .run = run<NormArgs, norm_row>});
  registry.add({.name = ARION_KERNEL_NAME("convert"),
                .arithmetic = "convert.f32",
                .rank = kIsaRank,
                .supports = supports_kinds<OpKind::convert>,
                .chunks = chunks<ConvertArgs>,
                .run = run<ConvertArgs, convert_row>});
  registry.add({.name = ARION_KERNEL_NAME("add"),
                .arithmetic = "add.f32",
                .rank = kIsaRank,
                .supports = supports_kinds<OpKind::add>,
                .chunks = chunks<AddArgs>,
                .run = run<AddArgs, add_row>});
}

}  // namespace norm
}  // namespace arion::cpu::ARION_ISA
