// The hyper-parameters of a model, read from its metadata and range-checked.
#pragma once
#include <string>
#include <vector>

#include "io/gguf_metadata.h"
#include "model/spec.h"

namespace arion {

struct LayerConfig {
  int heads = 0, kv_heads = 0;
  int feed_forward = 0;
  int window = 0;  // tokens; 0 = full attention
};

// How rotation frequencies are stretched for longer contexts.
struct RopeScaling {
  enum class Type : uint8_t { none, linear, yarn };
  Type type = Type::none;
  double factor = 1;
  double attention_factor = 1;  // multiplies cos and sin, whatever the type
  // YaRN only:
  double original_context = 0;           // tokens
  double beta_fast = 32, beta_slow = 1;  // turns in the original context between which to blend
  double extrapolation = 1;   // share of unstretched frequencies where rotations are fast
  double magnitude = 0;       // of cos and sin; 0 = from the factor
  double log_multiplier = 0;  // the magnitude from the factor, divided by that of this share
};

struct ModelConfig {
  const ArchSpec* spec = nullptr;
  RopePairing pairing = RopePairing::adjacent;
  std::string name;        // general.name, may be empty
  int context_length = 0;  // tokens
  int hidden = 0;
  int vocab = 0;
  int head_dim = 0;   // of queries, keys and values
  int rope_dims = 0;  // rotated elements per head
  double rope_base = 10000, window_rope_base = 10000;
  RopeScaling rope_scaling;  // of layers without a window
  float eps = 0;
  float attention_scale = 0;
  float embedding_scale = 1;
  std::vector<LayerConfig> layers;
};

// Throws Error{bad_input} naming the key. `vocab` rows are those of the embedding matrix.
ModelConfig read_config(const GgufMetadata& metadata, int vocab);

}  // namespace arion
