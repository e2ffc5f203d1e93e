// Limits with their defaults, plan shapes, and the sum of what they allocate.
#include "runtime/memory_plan.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "graph/arena_layout.h"

namespace arion {
namespace {

constexpr int kDefaultContext = 32768;
constexpr int kSmallRows = 16;
constexpr int64_t kMaxBlocks = INT32_MAX;  // block ids are 32 bits

}  // namespace

RunnerLimits resolve_limits(const Model& model, const RunnerLimits& limits) {
  RunnerLimits resolved = limits;
  const int largest = model.config.context_length;
  if (limits.context_tokens == 0) {
    resolved.context_tokens = std::min(largest, kDefaultContext);
  } else if (limits.context_tokens > largest) {
    fail(ErrorCode::usage, "a context of {} tokens was asked for, but the model was made for {}",
         limits.context_tokens, largest);
  }
  // A step of several sequences may be larger than the context of one.
  const int64_t most = int64_t{resolved.context_tokens} * limits.sequences;
  resolved.step_tokens = static_cast<int>(std::min<int64_t>(limits.step_tokens, most));
  resolved.logit_rows = limits.logit_rows == 0 ? resolved.step_tokens
                                               : std::min(limits.logit_rows, resolved.step_tokens);
  return resolved;
}

std::vector<PlanShape> plan_shapes(const RunnerLimits& resolved, int workers, DType kv) {
  std::vector<PlanShape> shapes;
  for (int rows : {1, kSmallRows, resolved.step_tokens}) {
    rows = std::min(rows, resolved.step_tokens);
    if (!shapes.empty() && shapes.back().rows >= rows) continue;
    shapes.push_back({.rows = rows,
                      .output_rows = std::min(rows, resolved.logit_rows),
                      .workers = workers,
                      .kv = kv});
  }
  return shapes;
}

size_t MemoryPlan::kv_bytes() const {
  size_t bytes = 0;
  for (const Group& group : groups) bytes += group.bytes();
  return bytes;
}

size_t MemoryPlan::kv_bytes_per_token() const {
  size_t bytes = 0;
  for (const Group& group : groups) bytes += group.spec.block_bytes() / kBlockTokens;
  return bytes;
}

MemoryPlan plan_memory(const Model& model, const ModelOptions& options, const RunnerLimits& limits,
                       int workers) {
  MemoryPlan plan{
      .limits = resolve_limits(model, limits),
      .weight_bytes = packed_bytes(model.graph),
      .scratch_bytes = kScratchBytes * static_cast<size_t>(workers) + sizeof(SharedScratch)};
  // A sequence needs one block more than its tokens fill while a forked block is copied.
  const int64_t blocks = (int64_t{blocks_for(plan.limits.context_tokens)} + 1) * limits.sequences;
  if (blocks > kMaxBlocks) {
    fail(ErrorCode::usage, "{} contexts of {} tokens are more than the KV cache can number",
         limits.sequences, plan.limits.context_tokens);
  }
  for (const KvGroup& group : model.graph.kv_groups) {
    plan.groups.push_back({.spec = {.layers = group.layers,
                                    .kv_heads = group.kv_heads,
                                    .head_dim = group.head_dim,
                                    .window = group.window,
                                    .type = options.kv_type()},
                           .blocks = static_cast<int>(blocks)});
    if (group.window > 0) {
      // Behind the window blocks are freed; a step's own tokens come on top.
      const int64_t live =
          int64_t{blocks_for(group.window)} + 2 + blocks_for(plan.limits.step_tokens);
      plan.groups.back().blocks = static_cast<int>(std::min(blocks, live * limits.sequences));
    }
  }
  for (const PlanShape& shape : plan_shapes(plan.limits, workers, options.kv_type())) {
    plan.arena_bytes = std::max(plan.arena_bytes, lay_out_arena(model.graph, shape).bytes);
  }
  return plan;
}

}  // namespace arion
