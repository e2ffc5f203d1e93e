// Binds nodes to kernels and memory, and proves that the barriers suffice.
#include "graph/plan.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "base/check.h"
#include "graph/arena_layout.h"

namespace arion {
namespace {

// The arena may be null, when only sizes are asked for.
std::byte* place(std::byte* arena, const ArenaSlot& slot) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(arena) + slot.offset);
}

// Turns nodes into kernel arguments under one layout.
class Binder {
 public:
  Binder(const Graph& graph, const PackedWeights& weights, const ArenaLayout& layout,
         std::byte* arena)
      : graph_(graph), weights_(weights), layout_(layout), arena_(arena) {}

  KernelArgs bind(const Node& node) const {
    const Attributes& a = node.attributes;
    switch (node.kind) {
      case OpKind::embed: {
        const PanelMatrix& table = weights_.matrix(node.weights[0]);
        return EmbedArgs{.format = graph_.weight(node.weights[0]).format,
                         .panels = table.panels,
                         .cols = table.cols,
                         .scale = a.scale * table.scale,
                         .out = ref(node.outputs[0])};
      }
      case OpKind::rope_angles: {
        const RopeTable& table = graph_.rope_tables[static_cast<size_t>(a.rope_table)];
        return RopeAnglesArgs{.inverse_frequencies = table.inverse_frequencies.data(),
                              .pairs = static_cast<int>(table.inverse_frequencies.size()),
                              .magnitude = table.magnitude,
                              .out = ref(node.outputs[0])};
      }
      case OpKind::rms_norm:
      case OpKind::norm:
        return norm(node);
      case OpKind::convert:
        return ConvertArgs{.rows = rows(node),
                           .cols = cols(node),
                           .x = ref(node.inputs[0]),
                           .out = outputs(node, 0)};
      case OpKind::add:
        return AddArgs{.rows = rows(node),
                       .cols = cols(node),
                       .a = ref(node.inputs[0]),
                       .b = ref(node.inputs[1]),
                       .out = ref(node.outputs[0])};
      case OpKind::glu:
        return GluArgs{.rows = rows(node),
                       .cols = cols(node),
                       .activation = a.activation,
                       .gate = ref(node.inputs[0]),
                       .up = ref(node.inputs[1]),
                       .out = outputs(node, 0)};
      case OpKind::select_rows:
        return SelectRowsArgs{
            .cols = cols(node), .x = ref(node.inputs[0]), .out = ref(node.outputs[0])};
      case OpKind::head_norm:
      case OpKind::rope:
      case OpKind::kv_write: {
        HeadArgs args = head(node, node.kind == OpKind::rope ? node.inputs[1] : ValueId{},
                             node.kind == OpKind::head_norm ? node.weights[0] : WeightId{});
        args.x = ref(node.inputs[0]);
        return args;
      }
      case OpKind::attention:
        return AttentionArgs{.rows = rows(node),
                             .attributes = a.attention,
                             .q = ref(node.inputs[0]),
                             .out = outputs(node, 0)};
      case OpKind::linear:
      case OpKind::linear_add:
      case OpKind::linear_glu:
      case OpKind::linear_head:
        return linear(node);
    }
    return {};
  }

 private:
  Ref ref(ValueId id) const {
    if (!id) return {};
    const ArenaSlot& slot = layout_.slots[static_cast<size_t>(id.index)];
    return {.base = place(arena_, slot), .worker_stride = slot.stride};
  }
  RowsKind rows(const Node& node) const {
    return graph_.value(node.outputs.empty() ? node.inputs[0] : node.outputs[0]).rows;
  }
  int cols(const Node& node) const { return graph_.value(node.outputs[0]).cols; }

  Outputs outputs(const Node& node, size_t first) const {
    Outputs out;
    for (size_t i = first; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      switch (graph_.value(id).form) {
        case ActivationForm::f32:
          out.f32 = ref(id);
          break;
        case ActivationForm::bf16:
          out.bf16 = ref(id);
          break;
        case ActivationForm::int8:
          out.int8 = ref(id);
          break;
      }
    }
    return out;
  }

  NormArgs norm(const Node& node) const {
    NormArgs args{.rows = rows(node),
                  .cols = cols(node),
                  .eps = node.attributes.eps,
                  .x = ref(node.inputs[0]),
                  .gain = weights_.vector(node.weights[0])};
    if (node.inputs.size() > 1) args.delta = ref(node.inputs[1]);
    if (node.weights.size() > 1) args.delta_gain = weights_.vector(node.weights[1]);
    if (node.attributes.has_sum) args.sum = ref(node.outputs[0]);
    args.out = outputs(node, node.attributes.has_sum ? 1 : 0);
    return args;
  }

  HeadArgs head(const Node& node, ValueId angles, WeightId gain) const {
    const Attributes& a = node.attributes;
    HeadArgs args{.rows = rows(node),
                  .role = a.role,
                  .heads = a.heads,
                  .head_dim = a.rope.head_dim,
                  .gain = weights_.vector(gain),
                  .eps = a.eps,
                  .angles = ref(angles),
                  .pairs = a.rope.pairs,
                  .pairing = a.rope.pairing,
                  .writes_kv = writes_kv(node),
                  .kv_group = a.kv_group,
                  .kv_layer = a.kv_layer};
    if (!node.outputs.empty()) args.out = ref(node.outputs[0]);
    return args;
  }

  LinearArgs linear(const Node& node) const {
    LinearArgs args{.rows = rows(node),
                    .kind = node.kind,
                    .form = graph_.value(node.inputs[0]).form,
                    .x = ref(node.inputs[0]),
                    .weight = weights_.matrix(node.weights[0])};
    if (node.kind == OpKind::linear_glu) {
      args.up = weights_.matrix(node.weights[1]);
      args.bias = weights_.vector(node.weights[2]);
      args.up_bias = weights_.vector(node.weights[3]);
      args.activation = node.attributes.activation;
    } else {
      args.bias = weights_.vector(node.weights[1]);
    }
    if (node.kind == OpKind::linear_add) args.residual = ref(node.inputs[1]);
    if (node.kind == OpKind::linear_head) {
      args.head = head(node, node.inputs[1], node.weights[2]);
    }
    args.out = outputs(node, 0);
    return args;
  }

  const Graph& graph_;
  const PackedWeights& weights_;
  const ArenaLayout& layout_;
  std::byte* arena_;
};

}  // namespace

bool Access::conflicts_with(const Access& other) const {
  if (space != other.space || !(is_write || other.is_write)) return false;
  if (end <= other.begin || other.end <= begin) return false;
  // Copies of one value: each worker meets only its own, in program order.
  return !(is_private && other.is_private && begin == other.begin && end == other.end);
}

void verify_barriers(const ExecutionPlan& plan) {
  size_t phase_begin = 0;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const PlanStep& step = plan.steps[s];
    if (step.has_barrier) phase_begin = s;
    for (size_t earlier = phase_begin; earlier < s; ++earlier) {
      for (const Access& a : plan.steps[earlier].accesses) {
        for (const Access& b : step.accesses) {
          if (!a.conflicts_with(b)) continue;
          throw std::logic_error(fmt::format(
              "plan: no barrier between step {} ({}, {}) and step {} ({}, {}), but one writes what "
              "the other touches",
              earlier, op_name(plan.steps[earlier].kind), plan.steps[earlier].scope, s,
              op_name(step.kind), step.scope));
        }
      }
    }
  }
}

ExecutionPlan Planner::plan(const PlanShape& shape, std::byte* arena) const {
  const ArenaLayout layout = lay_out_arena(graph_, shape);
  const Binder binder(graph_, weights_, layout, arena);
  ExecutionPlan plan{.shape = shape, .arena_bytes = layout.bytes};
  size_t phase_begin = 0;
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    OpDesc desc{.kind = node.kind, .kv = shape.kv};
    PlanStep step{.kind = node.kind,
                  .scope = node.scope,
                  .is_replicated = layout.is_replicated[n],
                  .accesses = node_accesses(graph_, layout, static_cast<int>(n))};
    const ValueId shown = node.outputs.empty() ? node.inputs[0] : node.outputs[0];
    step.rows = graph_.value(shown).rows;
    if (is_linear(node.kind)) {
      desc.form = graph_.value(node.inputs[0]).form;
      desc.weights = weights_.matrix(node.weights[0]).spec;
      const int matrices = node.kind == OpKind::linear_glu ? 2 : 1;
      for (int m = 0; m < matrices; ++m) {
        const PanelMatrix& matrix = weights_.matrix(node.weights[static_cast<size_t>(m)]);
        step.weight_bytes += weights_.matrix_bytes(node.weights[static_cast<size_t>(m)]);
        step.multiply_adds += static_cast<size_t>(matrix.rows) * static_cast<size_t>(matrix.cols);
      }
    }
    step.kernel = &kernels_.best(desc);
    step.args = std::make_unique<KernelArgs>(binder.bind(node));
    step.kernel_args =
        std::visit([](const auto& args) -> const void* { return &args; }, *step.args);

    // A barrier exactly where a step of the current phase and this one conflict.
    for (size_t earlier = phase_begin; earlier < n && !step.has_barrier; ++earlier) {
      for (const Access& a : plan.steps[earlier].accesses) {
        for (const Access& b : step.accesses) {
          step.has_barrier = step.has_barrier || a.conflicts_with(b);
        }
      }
    }
    if (step.has_barrier) phase_begin = n;
    plan.steps.push_back(std::move(step));
  }
  const ArenaSlot& logits = layout.slots[static_cast<size_t>(graph_.logits.index)];
  CHECK(logits.stride == 0);
  plan.logits = reinterpret_cast<float*>(place(arena, logits));
  plan.logits_stride =
      activation_stride(ActivationForm::f32, graph_.value(graph_.logits).cols) / sizeof(float);
  verify_barriers(plan);
  return plan;
}

}  // namespace arion
