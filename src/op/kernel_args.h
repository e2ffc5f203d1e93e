// Arguments of every kernel: plain structs the planner fills once, read-only while a step runs.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "op/op.h"
#include "op/step_input.h"
#include "quant/weight_format.h"
#include "tensor/activation.h"

namespace arion {

// A value in the arena. Values computed redundantly by every worker have one copy each.
struct Ref {
  std::byte* base = nullptr;
  size_t worker_stride = 0;  // bytes between the copies of two workers; 0 = shared

  explicit operator bool() const { return base != nullptr; }
  template <typename T>
  T* at(int worker) const {
    return reinterpret_cast<T*>(base + worker_stride * static_cast<size_t>(worker));
  }
};

// One matrix in one or several forms at once; forms nobody wants are null.
// f32 and bf16 rows lie activation_stride(form, cols) bytes apart.
struct Outputs {
  Ref f32{}, bf16{}, int8{};
};

struct EmbedArgs {
  const WeightFormat* format = nullptr;
  const std::byte* panels = nullptr;
  int cols = 0;
  float scale = 1.0f;
  Ref out{};  // f32 [rows, cols]
};

struct RopeAnglesArgs {
  const double* inverse_frequencies = nullptr;  // [pairs] radians per token
  int pairs = 0;
  float magnitude = 1.0f;  // multiplies cos and sin (YaRN, longrope)
  Ref out{};               // f32 [rows, 2 * pairs]: cos of all pairs, then sin of all pairs
};

// rms_norm and its fusions:  s = x + (delta_gain ? rms_norm(delta) * delta_gain : delta);
// sum = s; out = rms_norm(s) * gain.
struct NormArgs {
  RowsKind rows = RowsKind::all;
  int cols = 0;
  float eps = 0;
  Ref x{};                            // f32
  Ref delta{};                        // f32, null = none
  const float* delta_gain = nullptr;  // [cols], null = delta is not normalised
  Ref sum{};                          // f32, null without delta; may be x itself
  const float* gain = nullptr;        // [cols]; null = only the sum is wanted
  Outputs out{};
};

struct ConvertArgs {
  RowsKind rows = RowsKind::all;
  int cols = 0;
  Ref x{};  // f32
  Outputs out{};
};

struct AddArgs {
  RowsKind rows = RowsKind::all;
  int cols = 0;
  Ref a{}, b{}, out{};  // f32
};

struct GluArgs {
  RowsKind rows = RowsKind::all;
  int cols = 0;
  Activation activation = Activation::silu;
  Ref gate{}, up{};  // f32
  Outputs out{};
};

struct SelectRowsArgs {
  int cols = 0;
  Ref x{}, out{};  // f32 [all, cols] -> [output, cols]
};

// head_norm, rope and kv_write of whole heads, any subset, in this order.
//   x    f32 [rows, heads * head_dim]; may be out itself. linear_head has its own y instead.
struct HeadArgs {
  RowsKind rows = RowsKind::all;
  HeadRole role = HeadRole::query;
  int heads = 0, head_dim = 0;
  Ref x{};
  const float* gain = nullptr;  // [head_dim], null = no norm
  float eps = 0;
  Ref angles{};  // f32 as RopeAnglesArgs writes them, null = no rotation
  int pairs = 0;
  RopePairing pairing = RopePairing::adjacent;
  bool writes_kv = false;  // into kv_layer of kv_group, as role key or value
  int kv_group = 0, kv_layer = 0;
  Ref out{};  // f32 [rows, heads * head_dim], null = only the KV is written
};

struct AttentionArgs {
  RowsKind rows = RowsKind::all;
  AttentionAttributes attributes{};
  Ref q{};  // f32 [rows, heads * head_dim]
  Outputs out{};
};

// One matrix of packed weights.
struct PanelMatrix {
  const std::byte* panels = nullptr;  // panel_count(rows) panels of panel_bytes(spec, cols)
  PanelSpec spec{};
  int rows = 0, cols = 0;  // output and input features
  float scale = 1.0f;      // multiplies the finished products
};

// linear and its fusions. With y = (x W^T) * weight.scale + bias, W as in the panels:
//   linear      out = y
//   linear_add  out = residual + y
//   linear_glu  out = act(y) * y2, y2 of `up` and `up_bias`
//   linear_head out = head(y), see HeadArgs (head.out = out.f32)
struct LinearArgs {
  RowsKind rows = RowsKind::all;
  OpKind kind = OpKind::linear;
  ActivationForm form = ActivationForm::f32;  // of x
  Ref x{};
  PanelMatrix weight{};
  const float* bias = nullptr;  // [weight.rows]
  PanelMatrix up{};             // linear_glu only, same spec and shape as weight
  const float* up_bias = nullptr;
  Activation activation = Activation::silu;
  Ref residual{};  // f32 [rows, weight.rows]; may be out.f32 itself
  HeadArgs head{};
  Outputs out{};
};

}  // namespace arion
