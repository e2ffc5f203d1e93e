// Roles by the names that GGUF files use.
#include "compress/tensor_role.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace arion {

namespace {

struct NamedRole {
  std::string_view part;
  TensorRole role;
};

// The first part that a name contains decides.
constexpr std::array kRoles = {
    NamedRole{"attn_qkv.weight", TensorRole::attention_value},
    NamedRole{"attn_kv_b.weight", TensorRole::attention_value},
    NamedRole{"attn_v.weight", TensorRole::attention_value},
    NamedRole{"attn_k.weight", TensorRole::attention_key},
    NamedRole{"attn_q.weight", TensorRole::attention_query},
    NamedRole{"attn_output.weight", TensorRole::attention_output},
    NamedRole{"ffn_up", TensorRole::ffn_up},
    NamedRole{"ffn_gate", TensorRole::ffn_gate},
    NamedRole{"ffn_down", TensorRole::ffn_down},
};

// Parts of names of tensors that are small or sensitive.
constexpr std::array<std::string_view, 37> kNeverQuantized = {
    "_norm.weight",
    "ffn_gate_inp.weight",
    "ffn_gate_tid2eid.weight",
    "altup",
    "laurel",
    "per_layer_model_proj",
    "position_embd.weight",
    "token_types.weight",
    "ssm_conv1d",
    "shortconv.conv.weight",
    "indexer.k_proj.weight",
    "indexer.q_proj.weight",
    "time_mix_first.weight",
    "time_mix_w0.weight",
    "time_mix_w1.weight",
    "time_mix_w2.weight",
    "time_mix_v0.weight",
    "time_mix_v1.weight",
    "time_mix_v2.weight",
    "time_mix_a0.weight",
    "time_mix_a1.weight",
    "time_mix_a2.weight",
    "time_mix_g1.weight",
    "time_mix_g2.weight",
    "time_mix_decay_w1.weight",
    "time_mix_decay_w2.weight",
    "time_mix_lerp_fused.weight",
    "attn_rel_b.weight",
    ".position_embd",
    "sam.pos_embd",
    "sam.neck.",
    "sam.net_",
    ".rel_pos",
    ".patch_embd",
    ".patch_merger",
    "a.rvq.codebook",
    "mm.a.code_embd",
};

bool contains(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

}  // namespace

TensorRole tensor_role(std::string_view name) {
  if (name == "output.weight") return TensorRole::output;
  if (name == "token_embd.weight" || name == "per_layer_token_embd.weight") {
    return TensorRole::token_embedding;
  }
  const auto found =
      std::ranges::find_if(kRoles, [&](const NamedRole& r) { return contains(name, r.part); });
  return found != kRoles.end() ? found->role : TensorRole::other;
}

int layer_of(std::string_view name) {
  constexpr std::string_view kPrefix = "blk.";
  if (!name.starts_with(kPrefix)) return -1;
  int layer = -1;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + kPrefix.size(), end, layer);
  return error == std::errc{} && rest != end && *rest == '.' && layer >= 0 ? layer : -1;
}

bool is_quantizable(const GgufTensor& tensor) {
  // Trailing dimensions of 1 do not count.
  if (tensor.rows() == 1 || !tensor.name.ends_with("weight")) return false;
  return std::ranges::none_of(kNeverQuantized,
                              [&](std::string_view part) { return contains(tensor.name, part); });
}

}  // namespace arion
