// What neither the metadata nor the presence of a tensor can say about an architecture.
#pragma once
#include <span>
#include <string_view>

#include "op/op.h"

namespace arion {

// A row of spec_table.cpp. Defaults are those of `llama`. Biases, query and key norms, norms
// behind a sublayer, a separate head and rotation factors need no column: their tensors say it.
struct ArchSpec {
  std::string_view name;  // value of general.architecture
  RopePairing pairing = RopePairing::adjacent;
  Activation activation = Activation::silu;
  bool scales_embedding = false;  // embeddings times sqrt(hidden size)
  int window_period = 0;        // every n-th layer attends fully; 0 = windows need the pattern key
  double window_rope_base = 0;  // rotation base of windowed layers; 0 = that of the others
  int hidden_scale_layers = 0;  // models of this depth scale scores by hidden / heads
};

std::span<const ArchSpec> arch_specs();

// Throws Error{bad_input} listing the architectures there are.
const ArchSpec& find_arch_spec(std::string_view name);

}  // namespace arion
