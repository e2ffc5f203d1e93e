// A model read from a file: hyper-parameters and graph.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "graph/pass.h"
#include "io/gguf.h"
#include "model/config.h"
#include "tensor/dtype.h"

namespace arion {

// What fixes the numerics of a loaded model besides its file.
struct ModelOptions {
  std::optional<ActivationForm> activations;  // absent: by the format of each weight
  std::optional<DType> kv;                    // absent: f32 with f32 activations, else f16
  std::string passes = "all";                 // see select_passes

  DType kv_type() const {
    return kv.value_or(activations == ActivationForm::f32 ? DType::f32 : DType::f16);
  }
};

// The graph's weights point into `file`.
struct Model {
  GgufFile file;
  ModelConfig config;
  Graph graph;
};

// Builds and checks the graph of a file without touching its weights; no pass has run yet.
// Throws Error{bad_input} when metadata and tensors do not make a model of a known architecture.
Model describe_model(GgufFile file);

}  // namespace arion
