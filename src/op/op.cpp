// Names of operations and activations in plans and messages.
#include "op/op.h"

namespace arion {

std::string_view op_name(OpKind kind) {
  switch (kind) {
    case OpKind::embed:
      return "embed";
    case OpKind::rope_angles:
      return "rope_angles";
    case OpKind::rms_norm:
      return "rms_norm";
    case OpKind::convert:
      return "convert";
    case OpKind::linear:
      return "linear";
    case OpKind::head_norm:
      return "head_norm";
    case OpKind::rope:
      return "rope";
    case OpKind::kv_write:
      return "kv_write";
    case OpKind::attention:
      return "attention";
    case OpKind::glu:
      return "glu";
    case OpKind::add:
      return "add";
    case OpKind::select_rows:
      return "select_rows";
    case OpKind::norm:
      return "norm";
    case OpKind::linear_add:
      return "linear_add";
    case OpKind::linear_glu:
      return "linear_glu";
    case OpKind::linear_head:
      return "linear_head";
  }
  return "?";
}

std::string_view activation_name(Activation activation) {
  return activation == Activation::silu ? "silu" : "gelu_tanh";
}

}  // namespace arion
