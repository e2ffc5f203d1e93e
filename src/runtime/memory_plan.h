// How much memory running a model takes, known before anything is loaded.
#pragma once
#include <cstddef>
#include <vector>

#include "cache/kv_group.h"
#include "graph/plan.h"
#include "model/model.h"

namespace arion {

struct RunnerLimits {
  int context_tokens = 0;  // of one sequence; 0 = what the model allows, at most 32768
  int sequences = 1;       // contexts the KV has room for
  int step_tokens = 512;   // rows of the largest step
  int logit_rows = 0;      // of a step, at most: logits of large vocabularies are large; 0 = all
};

// Enough for generation: a step decodes few sequences compared with the tokens it prefills.
inline constexpr int kGenerationLogitRows = 64;

// Limits with the model's own filled in. Throws Error{usage} when the context is longer than the
// model was made for.
RunnerLimits resolve_limits(const Model& model, const RunnerLimits& limits);

// The plans a runner makes, by ascending number of rows; they share one arena.
std::vector<PlanShape> plan_shapes(const RunnerLimits& resolved, int workers, DType kv);

struct MemoryPlan {
  struct Group {
    KvGroupSpec spec;
    int blocks = 0;
    size_t bytes() const { return spec.block_bytes() * static_cast<size_t>(blocks); }
  };

  RunnerLimits limits;      // resolved
  size_t weight_bytes = 0;  // packed
  std::vector<Group> groups;
  size_t arena_bytes = 0;    // values of one step
  size_t scratch_bytes = 0;  // of the workers

  size_t kv_bytes() const;
  // Of one more token in a sequence; behind a full window it costs less.
  size_t kv_bytes_per_token() const;
  size_t total_bytes() const { return weight_bytes + kv_bytes() + arena_bytes + scratch_bytes; }
};

// `model` as its passes have rewritten it.
MemoryPlan plan_memory(const Model& model, const ModelOptions& options, const RunnerLimits& limits,
                       int workers);

}  // namespace arion
