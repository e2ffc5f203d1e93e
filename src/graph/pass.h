// Named rewrites of a graph, one file each in passes/, run in a fixed order.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace arion {

struct PassOptions {
  // Activation format of every linear; absent: by the format of its weight.
  std::optional<ActivationForm> activations;
};

// The form a linear wants its input in.
ActivationForm input_form(const PassOptions& options, const Weight& weight);

struct Pass {
  const char* name;
  int order;         // passes run in ascending order
  bool is_optional;  // optional passes change speed, never a bit of the result
  void (*run)(Graph& graph, const PassOptions& options);
};

// All passes in the order they run.
std::vector<Pass> all_passes();

// Which optional passes run: "all", "none", or a comma-separated list of "-NAME" to leave out.
// Throws Error{usage} naming the passes there are.
std::vector<Pass> select_passes(const std::string& selection);

// Runs the passes, verifying the graph after each one.
void run_passes(Graph& graph, std::span<const Pass> passes, const PassOptions& options);

// Throws std::logic_error when the graph is malformed: a pass has a bug.
void verify(const Graph& graph);

// ---- helpers of passes ----------------------------------------------------------------------
// The only node reading `value`, or -1 if there are several or none.
int single_use(const std::vector<std::vector<int>>& used_by, ValueId value);

// Drops nodes without effect (no output read, nothing stored) and restores the order.
void clean_up(Graph& graph);

}  // namespace arion
