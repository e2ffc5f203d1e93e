// Collects the arithmetic tags of a plan's kernels into one line.
#include "runtime/numerics_profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace arion {

std::vector<std::string> arithmetic_tags(const ExecutionPlan& plan) {
  std::vector<std::string> tags;
  for (const PlanStep& step : plan.steps) {
    const std::string tag = step.kernel->arithmetic;
    if (std::ranges::find(tags, tag) == tags.end()) tags.push_back(tag);
  }
  return tags;
}

std::string numerics_profile(const ModelOptions& options, const ExecutionPlan& plan) {
  return fmt::format("activations {}, kv {}, arithmetic {}",
                     options.activations ? activation_form_name(*options.activations) : "by weight",
                     dtype_name(options.kv_type()), fmt::join(arithmetic_tags(plan), " "));
}

}  // namespace arion
