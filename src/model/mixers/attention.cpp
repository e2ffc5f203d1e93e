// Softmax attention over the paged KV: optional biases and per-head norms, rotation, GQA, windows.
#include "model/layer_builder.h"

namespace arion {
namespace {

ValueId project(const LayerBuilder& l, ValueId x, const char* tensor, int heads) {
  const int rows = heads * l.config.head_dim;
  const std::string base = l.name(tensor);
  return l.graph.linear(x, l.tensors.matrix(base + ".weight", rows, l.config.hidden),
                        l.tensors.find_vector(base + ".bias", rows));
}

ValueId norm_heads(const LayerBuilder& l, ValueId x, const char* tensor) {
  const WeightId gain = l.tensors.find_vector(l.name(tensor) + ".weight", l.config.head_dim);
  return gain ? l.graph.head_norm(x, gain, l.config.head_dim, l.config.eps) : x;
}

}  // namespace

ValueId mix_attention(const LayerBuilder& l, ValueId x) {
  const int head_dim = l.config.head_dim;
  const KvLayer kv = l.graph.kv_layer(
      {.kv_heads = l.layer.kv_heads, .head_dim = head_dim, .window = l.layer.window});
  ValueId q = project(l, x, "attn_q", l.layer.heads);
  ValueId k = project(l, x, "attn_k", l.layer.kv_heads);
  const ValueId v = project(l, x, "attn_v", l.layer.kv_heads);
  q = l.graph.rope(norm_heads(l, q, "attn_q_norm"), l.rotation.angles, l.rotation.attributes);
  k = l.graph.rope(norm_heads(l, k, "attn_k_norm"), l.rotation.angles, l.rotation.attributes);
  l.graph.kv_write(k, HeadRole::key, head_dim, kv);
  l.graph.kv_write(v, HeadRole::value, head_dim, kv);
  const ValueId attended = l.graph.attention(q, {.heads = l.layer.heads,
                                                 .kv_heads = l.layer.kv_heads,
                                                 .head_dim = head_dim,
                                                 .window = l.layer.window,
                                                 .scale = l.config.attention_scale,
                                                 .kv_group = kv.group,
                                                 .kv_layer = kv.layer});
  const std::string base = l.name("attn_output");
  return l.graph.linear(
      attended, l.tensors.matrix(base + ".weight", l.config.hidden, l.layer.heads * head_dim),
      l.tensors.find_vector(base + ".bias", l.config.hidden));
}

}  // namespace arion
