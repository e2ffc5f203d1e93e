// What the linear kinds do with y = x W^T once it is computed, row by row.
#pragma once
#include "cpu/kernels/convert.h"
#include "cpu/kernels/heads.h"
#include "cpu/kernels/math.h"
#include "op/kernel_args.h"

namespace arion::cpu::ARION_ISA {
namespace {

ARION_INLINE F32 activate(Activation activation, F32 x) {
  return activation == Activation::silu ? silu(x) : gelu_tanh(x);
}

// gate[0 .. count) = act(gate) * up
ARION_INLINE void apply_glu(Activation activation, float* gate, const float* up, int count) {
  for (int c = 0; c < count; c += kLanes) {
    const int n = lanes_left(c, count);
    const F32 value = activate(activation, F32::load_first(gate + c, n));
    (value * F32::load_first(up + c, n)).store_first(gate + c, n);
  }
}

ARION_INLINE void add_bias(float* y, const float* bias, int count) {
  for (int c = 0; c < count; c += kLanes) {
    const int n = lanes_left(c, count);
    (F32::load_first(y + c, n) + F32::load_first(bias + c, n)).store_first(y + c, n);
  }
}

// The factor of a whole matrix; most have none.
ARION_INLINE void apply_scale(float* y, float scale, int count) {
  if (scale == 1.0f) return;
  const F32 factor = F32::set1(scale);
  for (int c = 0; c < count; c += kLanes) {
    const int n = lanes_left(c, count);
    (F32::load_first(y + c, n) * factor).store_first(y + c, n);
  }
}

// Output features [begin, begin + count) of one row: y, and for linear_glu up, are changed.
struct EpilogueRow {
  int row, begin, count;
  float* y;
  float* up;
};

// One copy per object, whatever the product: the code is large.
[[maybe_unused]] ARION_NOINLINE void finish_row(const LinearArgs& args, const StepInput& input,
                                                const EpilogueRow& part, const Worker& worker) {
  const int cols = args.weight.rows;
  apply_scale(part.y, args.weight.scale, part.count);
  if (args.bias != nullptr) add_bias(part.y, args.bias + part.begin, part.count);
  if (args.kind == OpKind::linear_add) {
    const float* residual = f32_row(args.residual, worker.index, cols, part.row) + part.begin;
    for (int c = 0; c < part.count; c += kLanes) {
      const int n = lanes_left(c, part.count);
      (F32::load_first(residual + c, n) + F32::load_first(part.y + c, n))
          .store_first(part.y + c, n);
    }
  } else if (args.kind == OpKind::linear_glu) {
    apply_scale(part.up, args.up.scale, part.count);
    if (args.up_bias != nullptr) add_bias(part.up, args.up_bias + part.begin, part.count);
    apply_glu(args.activation, part.y, part.up, part.count);
  } else if (args.kind == OpKind::linear_head) {
    const int dim = args.head.head_dim;
    for (int c = 0; c < part.count; c += dim) {
      apply_head(part.y + c, args.head, input, part.row, (part.begin + c) / dim, worker);
    }
    if (args.head.out) return;  // apply_head has stored it
  }
  store_outputs(args.out, worker.index, part.y, part.begin, part.count, cols, part.row);
}

}  // namespace
}  // namespace arion::cpu::ARION_ISA
