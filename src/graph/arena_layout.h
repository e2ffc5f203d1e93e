// Where the values of a plan lie in its arena, and which steps need a barrier.
#pragma once
#include <cstddef>
#include <vector>

#include "graph/plan.h"

namespace arion {

struct ArenaSlot {
  size_t offset = 0, stride = 0;  // stride: bytes between the workers' copies, 0 = shared
  size_t bytes = 0;               // all copies together
};

struct ArenaLayout {
  std::vector<bool> is_replicated;  // by node
  std::vector<ArenaSlot> slots;     // by value
  size_t bytes = 0;
};

// Steps of at most this many rows repeat cheap row-wise work on every worker instead of waiting
// for another worker to do it.
inline constexpr int kReplicatedRows = 16;

ArenaLayout lay_out_arena(const Graph& graph, const PlanShape& shape);

// What `node` touches, under `layout`.
std::vector<Access> node_accesses(const Graph& graph, const ArenaLayout& layout, int node);

}  // namespace arion
