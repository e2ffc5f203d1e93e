// The operations a graph is made of, and the attributes each carries.
//
// Values are matrices [rows, cols] of f32 unless a form says otherwise; a row is one token. Every
// kind below is defined by op/reference.cpp. The first group is what models are built from, the
// second is what fusion passes make of it; each fused kind equals its parts bit for bit.
#pragma once
#include <cstdint>
#include <string_view>

#include "tensor/activation.h"

namespace arion {

enum class OpKind : uint8_t {
  embed,        // tokens -> row of a weight, times `scale`
  rope_angles,  // positions -> cos | sin of every rotated pair
  rms_norm,     // x * gain / rms(x)
  convert,      // f32 -> bf16 or int8 form
  linear,       // x W^T (+ bias)
  head_norm,    // rms_norm of every head of a row
  rope,         // rotates the pairs of every head
  kv_write,     // k, v -> paged KV of one layer
  attention,    // softmax(q K^T) V over the paged KV
  glu,          // act(gate) * up
  add,          // a + b
  select_rows,  // the rows that want logits
  // Made by passes:
  norm,         // residual add (of a normalised delta), rms_norm and conversions in one
  linear_add,   // linear, then residual + result
  linear_glu,   // two linears and glu, result in any form
  linear_head,  // linear, then head_norm, rope and KV write of whole heads
};

std::string_view op_name(OpKind kind);

// Operations that multiply with a weight matrix; their activations have a form.
constexpr bool is_linear(OpKind kind) {
  return kind == OpKind::linear || kind == OpKind::linear_add || kind == OpKind::linear_glu ||
         kind == OpKind::linear_head;
}

// Which rows of a step a value has: all, or only those that want logits.
enum class RowsKind : uint8_t { all, output };

enum class Activation : uint8_t { silu, gelu_tanh };
std::string_view activation_name(Activation activation);

// Which elements of a head form a rotated pair: (2i, 2i+1) or (i, i + pairs).
enum class RopePairing : uint8_t { adjacent, half_split };

// Role of a linear_head or kv_write operand.
enum class HeadRole : uint8_t { query, key, value };

// The first position that a query at `position` can see; a window of 0 has no end.
constexpr int first_visible(int position, int window) {
  return window == 0 || position < window ? 0 : position - window + 1;
}

struct AttentionAttributes {
  int heads = 0, kv_heads = 0, head_dim = 0;
  int window = 0;  // keys visible to a query, itself included; 0 = all before it
  float scale = 1.0f;
  int kv_group = 0;  // index of the KV group and of the layer within it
  int kv_layer = 0;
};

struct RopeAttributes {
  int head_dim = 0;
  int pairs = 0;  // rotated pairs per head; 2 * pairs <= head_dim
  RopePairing pairing = RopePairing::adjacent;
};

}  // namespace arion
