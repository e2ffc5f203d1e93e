// head_norm, rope and kv_write on their own: whole heads, split by head and row.
#include "cpu/kernels/heads.h"

#include "cpu/kernels/rows.h"

namespace arion::cpu::ARION_ISA {
namespace {

int chunks(const void* args, const StepInput& input, int /*workers*/) {
  constexpr float kNsPerElement = 1.0f;
  const auto& a = *static_cast<const HeadArgs*>(args);
  const int items = input.rows(a.rows).count * a.heads;
  const float ns = kNsPerElement * static_cast<float>(items) * static_cast<float>(a.head_dim);
  const int wanted = static_cast<int>(ns * 1e-4f);
  return wanted < 1 ? 1 : wanted < items ? wanted : items;
}

// Heads are the outer index: the tokens of a K block share cache lines.
void run(const void* args, const StepInput& input, int chunk, int chunks, const Worker& worker) {
  const auto& a = *static_cast<const HeadArgs*>(args);
  const int rows = input.rows(a.rows).count;
  const Range items = part_of(rows * a.heads, chunk, chunks);
  float* x = reinterpret_cast<float*>(worker.scratch);
  for (int item = items.begin; item < items.end; ++item) {
    const int head = item / rows, row = item % rows;
    const float* from = f32_row(a.x, worker.index, a.heads * a.head_dim, row) + head * a.head_dim;
    for (int d = 0; d < a.head_dim; d += kLanes) {
      const int n = lanes_left(d, a.head_dim);
      F32::load_first(from + d, n).store_first(x + d, n);
    }
    apply_head(x, a, input, row, head, worker);
  }
}

}  // namespace

namespace heads {

void register_kernels(KernelRegistry& registry) {
  registry.add({.name = ARION_KERNEL_NAME("head"),
                .arithmetic = "head.f32",
                .rank = kIsaRank,
                .supports = supports_kinds<OpKind::head_norm, OpKind::rope, OpKind::kv_write>,
                .chunks = chunks,
                .run = run});
}

}  // namespace heads
}  // namespace arion::cpu::ARION_ISA
