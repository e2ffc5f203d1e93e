// A memory plan as a table for people and as JSON for scripts.
#include "memory_text.h"

#include <fmt/format.h>

#include "mebibytes.h"

namespace arion::app {
std::string memory_text(const MemoryPlan& plan, int threads) {
  std::string text = "Memory\n";
  auto line = [&](std::string_view what, size_t bytes, const std::string& detail) {
    text += fmt::format("  {:<10} {:>10.1f} MiB  {}\n", what, mebibytes(bytes), detail);
  };
  line("weights", plan.weight_bytes, "packed");
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const MemoryPlan::Group& group = plan.groups[g];
    const std::string window =
        group.spec.window > 0 ? fmt::format(", window {}", group.spec.window) : "";
    line(fmt::format("KV {}", g), group.bytes(),
         fmt::format("{} layers, {} heads of {} in {}{}: {:.1f} KiB per token", group.spec.layers,
                     group.spec.kv_heads, group.spec.head_dim, dtype_name(group.spec.type), window,
                     static_cast<double>(group.spec.block_bytes()) / kBlockTokens / 1024));
  }
  line("arena", plan.arena_bytes, fmt::format("steps of up to {} tokens", plan.limits.step_tokens));
  line("scratch", plan.scratch_bytes, fmt::format("{} threads", threads));
  line("total", plan.total_bytes(),
       fmt::format("for {} sequence{} of {} tokens", plan.limits.sequences,
                   plan.limits.sequences == 1 ? "" : "s", plan.limits.context_tokens));
  return text;
}

nlohmann::ordered_json memory_json(const MemoryPlan& plan) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (const MemoryPlan::Group& group : plan.groups) {
    groups.push_back({{"layers", group.spec.layers},
                      {"kv_heads", group.spec.kv_heads},
                      {"head_dim", group.spec.head_dim},
                      {"window", group.spec.window},
                      {"type", dtype_name(group.spec.type)},
                      {"blocks", group.blocks},
                      {"bytes", group.bytes()}});
  }
  return {{"context_tokens", plan.limits.context_tokens},
          {"sequences", plan.limits.sequences},
          {"step_tokens", plan.limits.step_tokens},
          {"weight_bytes", plan.weight_bytes},
          {"kv_groups", std::move(groups)},
          {"kv_bytes_per_token", plan.kv_bytes_per_token()},
          {"kv_bytes", plan.kv_bytes()},
          {"arena_bytes", plan.arena_bytes},
          {"scratch_bytes", plan.scratch_bytes},
          {"total_bytes", plan.total_bytes()}};
}

}  // namespace arion::app
