// Residual addition, rms_norm and conversions: whole rows, split by rows.
#include "cpu/kernels/convert.h"
#include "cpu/kernels/rms.h"
#include "cpu/kernels/rows.h"

namespace arion::cpu::ARION_ISA {
namespace {

void copy(const float* from, float* to, int count) {
  for (int c = 0; c < count; c += kLanes) {
    const int n = lanes_left(c, count);
    F32::load_first(from + c, n).store_first(to + c, n);
  }
}

// to = x + delta
void add(const float* x, const float* delta, float* to, int count) {
  for (int c = 0; c < count; c += kLanes) {
    const int n = lanes_left(c, count);
    (F32::load_first(x + c, n) + F32::load_first(delta + c, n)).store_first(to + c, n);
  }
}

void norm_row(const NormArgs& args, int row, const Worker& worker) {
  const int cols = args.cols;
  float* s = reinterpret_cast<float*>(worker.scratch);
  const float* x = f32_row(args.x, worker.index, cols, row);
  if (args.delta) {
    const float* delta = f32_row(args.delta, worker.index, cols, row);
    if (args.delta_gain != nullptr) {
      copy(delta, s, cols);
      scale_by_gain(s, inverse_rms(delta, cols, args.eps), args.delta_gain, cols);
      delta = s;
    }
    add(x, delta, s, cols);
    if (args.sum) {
      store_f32_columns(s, 0, cols, args.sum.at<std::byte>(worker.index), cols, row);
    }
  } else {
    copy(x, s, cols);
  }
  if (args.gain == nullptr) return;
  scale_by_gain(s, inverse_rms(s, cols, args.eps), args.gain, cols);
  store_outputs(args.out, worker.index, s, 0, cols, cols, row);
}

void convert_row(const ConvertArgs& args, int row, const Worker& worker) {
  const float* x = f32_row(args.x, worker.index, args.cols, row);
  store_outputs(args.out, worker.index, x, 0, args.cols, args.cols, row);
}

void add_row(const AddArgs& args, int row, const Worker& worker) {
  float* sum = reinterpret_cast<float*>(worker.scratch);
  add(f32_row(args.a, worker.index, args.cols, row), f32_row(args.b, worker.index, args.cols, row),
      sum, args.cols);
  store_f32_columns(sum, 0, args.cols, args.out.at<std::byte>(worker.index), args.cols, row);
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
