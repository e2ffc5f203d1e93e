// Graphs for tests of passes: weights have shapes and formats, but no data.
#pragma once
#include <string>
#include <string_view>

#include "graph/builder.h"
#include "graph/pass.h"
#include "quant/weight_format.h"

namespace arion::test {

class SmallGraph : public GraphBuilder {
 public:
  WeightId matrix(std::string name, int rows, int cols, std::string_view format = "Q4_0") {
    return weight({.name = std::move(name),
                   .format = find_weight_format(format),
                   .rows = rows,
                   .cols = cols});
  }
  WeightId vector(std::string name, int size) { return matrix(std::move(name), 1, size, "F32"); }
  ValueId embedding(int cols) { return embed(matrix("embd", 100, cols, "F32"), 1.0f); }
};

// Runs one pass and the verifier.
inline void run_pass(Graph& graph, std::string_view name, const PassOptions& options = {}) {
  for (const Pass& pass : all_passes()) {
    if (pass.name == name) return run_passes(graph, std::span(&pass, 1), options);
  }
  throw std::invalid_argument("no pass " + std::string(name));
}

}  // namespace arion::test
