// What a tensor does in a model, as far as its precision is concerned.
#pragma once
#include <cstdint>
#include <string_view>

#include "io/gguf.h"

namespace arion {

enum class TensorRole : uint8_t {
  token_embedding,
  output,
  attention_value,  // and joint projections that hold the values
  attention_key,
  attention_query,
  attention_output,
  ffn_down,
  ffn_gate,
  ffn_up,
  other
};
inline constexpr int kTensorRoles = static_cast<int>(TensorRole::other) + 1;

TensorRole tensor_role(std::string_view name);

// The N of "blk.N.", or -1.
int layer_of(std::string_view name);

// Matrices that are applied to activations, and embeddings. Norms, biases, routers, convolutions,
// position tables and small adapters keep their type.
bool is_quantizable(const GgufTensor& tensor);

}  // namespace arion
