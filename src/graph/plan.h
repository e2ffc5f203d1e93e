// An execution plan: the flat list of kernel calls of one step, with the memory they use.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "backend/kernel.h"
#include "graph/graph.h"
#include "graph/packed_weights.h"

namespace arion {

// Upper bounds: kernels run the real number of rows.
struct PlanShape {
  int rows = 1;         // tokens of a step
  int output_rows = 1;  // rows that may want logits
  int workers = 1;
  DType kv = DType::f16;
};

// Bytes a step reads or writes, for the proof that no barrier is missing.
struct Access {
  enum class Space : uint8_t { arena, keys, values, shared_scratch };
  Space space = Space::arena;
  size_t begin = 0, end = 0;  // bytes of the arena; for KV the number of the layer, one wide
  bool is_write = false;
  bool is_private = false;  // every worker touches only its own copy

  // True if two steps with these accesses must not run at the same time.
  bool conflicts_with(const Access& other) const;
};

using KernelArgs = std::variant<EmbedArgs, RopeAnglesArgs, NormArgs, ConvertArgs, AddArgs, GluArgs,
                                SelectRowsArgs, HeadArgs, AttentionArgs, LinearArgs>;

struct PlanStep {
  const Kernel* kernel = nullptr;
  OpKind kind = OpKind::add;
  std::unique_ptr<KernelArgs> args;   // address stays valid when the plan moves
  const void* kernel_args = nullptr;  // the alternative inside `args`
  std::string scope;
  bool has_barrier = false;    // all workers finish the steps before this one first
  bool is_replicated = false;  // every worker runs all chunks into its own copy
  std::vector<Access> accesses;
  RowsKind rows = RowsKind::all;
  size_t weight_bytes = 0;   // read once per step
  size_t multiply_adds = 0;  // per row
};

struct ExecutionPlan {
  PlanShape shape;
  std::vector<PlanStep> steps;  // the last one computes the logits
  size_t arena_bytes = 0;
  float* logits = nullptr;   // [output rows, vocab]
  size_t logits_stride = 0;  // floats between rows
};

// Throws std::logic_error naming the first two steps that may run at the same time though one
// writes what the other touches.
void verify_barriers(const ExecutionPlan& plan);

// Makes plans of one graph.
class Planner {
 public:
  Planner(const Graph& graph, const PackedWeights& weights, const KernelRegistry& kernels)
      : graph_(graph), weights_(weights), kernels_(kernels) {}

  // Build once with a null arena to learn arena_bytes, and again with the memory. Plans of several
  // shapes may share one arena: it holds nothing between steps but the logits of the last one.
  ExecutionPlan plan(const PlanShape& shape, std::byte* arena) const;

 private:
  const Graph& graph_;
  const PackedWeights& weights_;
  const KernelRegistry& kernels_;
};

}  // namespace arion
