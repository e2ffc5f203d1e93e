// Selecting passes by name, running them with checks between, and what they share.
#include "graph/pass.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace arion {

#define ARION_ENTRY(name) Pass pass_##name();
#include "passes.inc"
#undef ARION_ENTRY

ActivationForm input_form(const PassOptions& options, const Weight& weight) {
  const Codec codec = weight.format->panel().codec;
  const bool is_quantised = codec != Codec::f32 && codec != Codec::f16 && codec != Codec::bf16;
  if (options.activations == ActivationForm::int8 && !is_quantised) {
    fail(ErrorCode::usage,
         "int8 activations need quantised weights, but tensor {} is {}; use --act fp32 or bf16",
         weight.name, weight.format->name());
  }
  if (options.activations) return *options.activations;
  if (is_quantised) return ActivationForm::int8;
  return codec == Codec::bf16 ? ActivationForm::bf16 : ActivationForm::f32;
}

std::vector<Pass> all_passes() {
#define ARION_ENTRY(name) pass_##name(),
  std::vector<Pass> passes = {
#include "passes.inc"
  };
#undef ARION_ENTRY
  std::ranges::sort(passes, {}, &Pass::order);
  return passes;
}

std::vector<Pass> select_passes(const std::string& selection) {
  std::vector<Pass> passes = all_passes();
  if (selection == "all") return passes;
  if (selection == "none") {
    std::erase_if(passes, [](const Pass& pass) { return pass.is_optional; });
    return passes;
  }
  for (size_t at = 0; at <= selection.size();) {
    const size_t end = std::min(selection.find(',', at), selection.size());
    const std::string item = selection.substr(at, end - at);
    at = end + 1;
    const size_t removed = std::erase_if(passes, [&](const Pass& pass) {
      return pass.is_optional && item.starts_with('-') && item.substr(1) == pass.name;
    });
    if (removed == 0) {
      std::string names;
      for (const Pass& pass : all_passes()) {
        if (pass.is_optional) names += std::string(" -") + pass.name;
      }
      fail(ErrorCode::usage, "passes '{}': expected all, none or a list of{}", selection, names);
    }
  }
  return passes;
}

void run_passes(Graph& graph, std::span<const Pass> passes, const PassOptions& options) {
  verify(graph);
  for (const Pass& pass : passes) {
    pass.run(graph, options);
    verify(graph);
  }
}

int single_use(const std::vector<std::vector<int>>& used_by, ValueId value) {
  const std::vector<int>& users = used_by[static_cast<size_t>(value.index)];
  return users.size() == 1 ? users.front() : -1;
}

void clean_up(Graph& graph) {
  for (bool changed = true; changed;) {
    const auto used_by = uses(graph);
    const size_t removed = std::erase_if(graph.nodes, [&](const Node& node) {
      if (writes_kv(node)) return false;
      return std::ranges::all_of(node.outputs, [&](ValueId out) {
        return used_by[static_cast<size_t>(out.index)].empty() && out != graph.logits;
      });
    });
    changed = removed > 0;
  }
  sort_nodes(graph);
}

}  // namespace arion
