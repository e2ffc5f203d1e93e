// What the primitives of a layer need to record themselves.
#pragma once
#include <string>

#include "graph/builder.h"
#include "model/config.h"
#include "model/tensor_binder.h"

namespace arion {

// Rotation of one kind of layer: angles are computed once per step.
struct Rotation {
  ValueId angles;
  RopeAttributes attributes;
};

struct LayerBuilder {
  GraphBuilder& graph;
  TensorBinder& tensors;
  const ModelConfig& config;
  const LayerConfig& layer;
  const Rotation& rotation;
  int index = 0;

  std::string name(const char* tensor) const {
    return "blk." + std::to_string(index) + "." + tensor;
  }
};

// One file each in mixers/ and ffn/: [rows, hidden] -> [rows, hidden], without norm and residual.
ValueId mix_attention(const LayerBuilder& layer, ValueId x);
ValueId ffn_glu(const LayerBuilder& layer, ValueId x);

}  // namespace arion
