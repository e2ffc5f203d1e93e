// An input is looked at before the first step that reads it: its conversion, or a linear in f32.
#include "runtime/input_squares.h"

#include <map>
#include <variant>

#include "base/check.h"

namespace arion {

InputSquares::InputSquares(const Graph& graph) : input_of_step_(graph.nodes.size(), -1) {
  const std::vector<int> defined_by = definitions(graph);
  std::map<int, size_t> known;  // by the index of the f32 value
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!is_linear(node.kind)) continue;
    ValueId value = node.inputs[0];
    size_t reader = n;
    if (graph.value(value).form != ActivationForm::f32) {
      reader = static_cast<size_t>(defined_by[static_cast<size_t>(value.index)]);
      CHECK(graph.nodes[reader].kind == OpKind::convert);
      value = graph.nodes[reader].inputs[0];
    }
    const auto [at, is_new] = known.try_emplace(value.index, inputs_.size());
    if (is_new) {
      inputs_.push_back({.squares = std::vector<double>(graph.value(value).cols)});
      input_of_step_[reader] = static_cast<int>(at->second);
    }
    const size_t matrices = node.kind == OpKind::linear_glu ? 2 : 1;
    for (size_t m = 0; m < matrices; ++m) {
      inputs_[at->second].weights.push_back(graph.weight(node.weights[m]).name);
    }
  }
}

void InputSquares::observe(const PlanStep& step, int index, const StepInput& input) {
  const int seen = input_of_step_[static_cast<size_t>(index)];
  if (seen < 0) return;
  LinearInput& sums = inputs_[static_cast<size_t>(seen)];
  const auto* convert = std::get_if<ConvertArgs>(step.args.get());
  const Ref& x = convert != nullptr ? convert->x : std::get<LinearArgs>(*step.args).x;
  const size_t cols = sums.squares.size();
  const size_t stride = activation_stride(ActivationForm::f32, static_cast<int>(cols));
  const int rows = input.rows(step.rows).count;
  for (int r = 0; r < rows; ++r) {
    const auto* row =
        reinterpret_cast<const float*>(x.at<std::byte>(0) + static_cast<size_t>(r) * stride);
    for (size_t c = 0; c < cols; ++c) {
      const double value = row[c];
      sums.squares[c] += value * value;
    }
  }
  sums.rows += static_cast<uint64_t>(rows);
}

}  // namespace arion
