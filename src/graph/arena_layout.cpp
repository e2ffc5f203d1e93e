// Barriers by conflicting accesses, lifetimes by barriers, offsets by first fit.
#include "graph/arena_layout.h"

#include <algorithm>
#include <numeric>

namespace arion {
namespace {

constexpr size_t kArenaAlignment = 64;

bool is_row_wise(OpKind kind) {
  switch (kind) {
    case OpKind::embed:
    case OpKind::rope_angles:
    case OpKind::rms_norm:
    case OpKind::norm:
    case OpKind::convert:
    case OpKind::add:
    case OpKind::select_rows:
      return true;
    default:
      return false;
  }
}

size_t value_bytes(const Value& value, const PlanShape& shape) {
  const int rows = value.rows == RowsKind::output ? shape.output_rows : shape.rows;
  return round_up(activation_bytes(value.form, rows, value.cols), kArenaAlignment);
}

// Number of the KV layer over all groups.
size_t kv_number(const Graph& graph, int group, int layer) {
  size_t number = static_cast<size_t>(layer);
  for (int g = 0; g < group; ++g)
    number += static_cast<size_t>(graph.kv_groups[static_cast<size_t>(g)].layers);
  return number;
}

bool conflict(const std::vector<Access>& a, const std::vector<Access>& b) {
  for (const Access& x : a) {
    for (const Access& y : b) {
      if (x.conflicts_with(y)) return true;
    }
  }
  return false;
}

// Number of barriers before each node, were every value to have memory of its own.
std::vector<int> phases(const Graph& graph, const ArenaLayout& layout) {
  std::vector<int> phase(graph.nodes.size(), 0);
  std::vector<std::vector<Access>> current;
  int count = 0;
  for (int n = 0; n < static_cast<int>(graph.nodes.size()); ++n) {
    std::vector<Access> accesses = node_accesses(graph, layout, n);
    const bool needs_barrier = std::ranges::any_of(
        current, [&](const std::vector<Access>& earlier) { return conflict(earlier, accesses); });
    if (needs_barrier) {
      ++count;
      current.clear();
    }
    current.push_back(std::move(accesses));
    phase[static_cast<size_t>(n)] = count;
  }
  return phase;
}

struct Lifetime {
  int first = -1, last = -1;  // phases
  bool overlaps(const Lifetime& other) const { return first <= other.last && other.first <= last; }
};

std::vector<Lifetime> lifetimes(const Graph& graph, const std::vector<int>& phase) {
  std::vector<Lifetime> lives(graph.values.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId out : graph.nodes[n].outputs) {
      lives[static_cast<size_t>(out.index)] = {phase[n], phase[n]};
    }
    for (ValueId in : graph.nodes[n].inputs) {
      if (in) lives[static_cast<size_t>(in.index)].last = phase[n];
    }
  }
  return lives;
}

// First fit, largest values first. Values share memory only if a barrier separates their lives.
void assign_offsets(const std::vector<Lifetime>& lives, ArenaLayout& layout) {
  std::vector<size_t> order(lives.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return layout.slots[a].bytes > layout.slots[b].bytes; });
  std::vector<size_t> placed;  // by ascending offset
  for (size_t v : order) {
    if (lives[v].first < 0) continue;  // no longer in the graph
    ArenaSlot& slot = layout.slots[v];
    size_t offset = 0;
    for (size_t other : placed) {
      if (!lives[v].overlaps(lives[other])) continue;
      const ArenaSlot& taken = layout.slots[other];
      if (offset + slot.bytes <= taken.offset) break;
      offset = std::max(offset, taken.offset + taken.bytes);
    }
    slot.offset = offset;
    const auto at = std::ranges::upper_bound(placed, offset, {},
                                             [&](size_t o) { return layout.slots[o].offset; });
    placed.insert(at, v);
    layout.bytes = std::max(layout.bytes, offset + slot.bytes);
  }
}

}  // namespace

std::vector<Access> node_accesses(const Graph& graph, const ArenaLayout& layout, int node) {
  const Node& n = graph.nodes[static_cast<size_t>(node)];
  std::vector<Access> accesses;
  auto arena = [&](ValueId id, bool is_write) {
    if (!id) return;
    const ArenaSlot& slot = layout.slots[static_cast<size_t>(id.index)];
    accesses.push_back({.space = Access::Space::arena,
                        .begin = slot.offset,
                        .end = slot.offset + slot.bytes,
                        .is_write = is_write,
                        .is_private = slot.stride != 0});
  };
  auto kv = [&](Access::Space space, int group, int layer, bool is_write) {
    const size_t number = kv_number(graph, group, layer);
    accesses.push_back({.space = space, .begin = number, .end = number + 1, .is_write = is_write});
  };
  for (ValueId in : n.inputs) arena(in, false);
  for (ValueId out : n.outputs) arena(out, true);
  if (writes_kv(n)) {
    kv(n.attributes.role == HeadRole::key ? Access::Space::keys : Access::Space::values,
       n.attributes.kv_group, n.attributes.kv_layer, true);
  }
  if (n.kind == OpKind::attention) {
    const AttentionAttributes& a = n.attributes.attention;
    kv(Access::Space::keys, a.kv_group, a.kv_layer, false);
    kv(Access::Space::values, a.kv_group, a.kv_layer, false);
    accesses.push_back({.space = Access::Space::shared_scratch, .end = 1, .is_write = true});
  }
  return accesses;
}

ArenaLayout lay_out_arena(const Graph& graph, const PlanShape& shape) {
  ArenaLayout layout;
  layout.slots.resize(graph.values.size());
  size_t end = 0;
  for (const Node& node : graph.nodes) {
    const bool is_replicated =
        shape.workers > 1 && shape.rows <= kReplicatedRows && is_row_wise(node.kind);
    layout.is_replicated.push_back(is_replicated);
    for (ValueId out : node.outputs) {
      ArenaSlot& slot = layout.slots[static_cast<size_t>(out.index)];
      slot.bytes = value_bytes(graph.value(out), shape);
      slot.offset = end;  // disjoint until lifetimes are known
      if (is_replicated) {
        slot.stride = slot.bytes;
        slot.bytes *= static_cast<size_t>(shape.workers);
      }
      end += slot.bytes;
    }
  }
  const std::vector<int> phase = phases(graph, layout);
  std::vector<Lifetime> lives = lifetimes(graph, phase);
  // The caller reads the logits after the last phase.
  lives[static_cast<size_t>(graph.logits.index)].last = phase.back() + 1;
  assign_offsets(lives, layout);
  return layout;
}

}  // namespace arion
