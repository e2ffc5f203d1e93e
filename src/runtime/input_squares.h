// Sums of squares of what the linear layers of a model read, column by column, over all rows that
// are run. Quantisation weighs errors by them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/executor.h"
#include "graph/graph.h"

namespace arion {

// A value that linear layers read.
struct LinearInput {
  std::vector<std::string> weights;  // the matrices it is multiplied with
  std::vector<double> squares;       // [cols]
  uint64_t rows = 0;                 // how many were added
};

// Used by the thread that runs the model. To be called as the observer of an executor.
class InputSquares {
 public:
  // Passes that leave every such value in f32 and with all of its rows.
  static constexpr std::string_view kPasses = "-fuse_convert,-hoist_select_rows";

  // `graph` as kPasses rewrote it.
  explicit InputSquares(const Graph& graph);

  // Before `step` runs, which computes node `index` of the graph: adds the f32 rows that it reads.
  void observe(const PlanStep& step, int index, const StepInput& input);

  std::span<const LinearInput> inputs() const { return inputs_; }

 private:
  std::vector<LinearInput> inputs_;
  // [nodes]: the input whose values this step is the first to read, or -1.
  std::vector<int> input_of_step_;
};

}  // namespace arion
