// The table of presets.
#include "sample/presets.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"

namespace arion {
namespace {

using namespace std::string_view_literals;

constexpr std::array kTemperatureLast = {
    "top_n_sigma"sv, "top_k"sv,          "typical_p"sv,  "top_p"sv, "min_p"sv,
    "top_h"sv,       "epsilon_cutoff"sv, "eta_cutoff"sv, "xtc"sv,   "temperature"sv};

constexpr std::array kVllm = {"temperature"sv, "min_p"sv,       "top_k"sv, "top_p"sv,
                              "typical_p"sv,   "top_n_sigma"sv, "top_h"sv, "epsilon_cutoff"sv,
                              "eta_cutoff"sv,  "xtc"sv};

constexpr std::array kTransformers = {
    "temperature"sv, "top_h"sv,          "top_k"sv,      "top_p"sv,       "min_p"sv,
    "typical_p"sv,   "epsilon_cutoff"sv, "eta_cutoff"sv, "top_n_sigma"sv, "xtc"sv};

constexpr std::array<SamplingPreset, 4> kPresets = {{
    {"default", kTemperatureLast, -1, false},
    {"llama.cpp", kTemperatureLast, 64, true},
    {"vllm", kVllm, -1, false},
    {"hf", kTransformers, -1, true},
}};

template <typename Range, typename NameOf>
std::string names(const Range& range, const NameOf& name_of) {
  std::vector<std::string_view> list;
  for (const auto& item : range) list.push_back(name_of(item));
  return fmt::format("{}", fmt::join(list, ", "));
}

}  // namespace

std::span<const SamplingPreset> sampling_presets() {
  return kPresets;
}

void apply_preset(std::string_view name, SamplingParams& params) {
  const auto preset = std::find_if(kPresets.begin(), kPresets.end(),
                                   [&](const SamplingPreset& p) { return name == p.name; });
  if (preset == kPresets.end()) {
    fail(ErrorCode::usage, "there is no sampling preset '{}', expected one of {}", name,
         names(kPresets, [](const SamplingPreset& p) { return p.name; }));
  }
  params.order.assign(preset->order.begin(), preset->order.end());
  params.penalties.last_n = preset->penalty_last_n;
  params.penalties.counts_prompt = preset->penalties_count_prompt;
}

void check_order(const SamplingParams& params) {
  if (params.order.empty()) return;
  std::set<std::string_view> seen;
  for (const std::string& name : params.order) {
    if (find_stage(name) == nullptr) {
      fail(ErrorCode::bad_input, "the sampling order names '{}', expected some of {}", name,
           names(all_stages(), [](const Stage* s) { return s->name; }));
    }
    if (!seen.insert(name).second) {
      fail(ErrorCode::bad_input, "the sampling order names '{}' twice, expected once", name);
    }
  }
  for (const Stage* stage : all_stages()) {
    if (!stage->is_on(params) || seen.contains(stage->name)) continue;
    fail(ErrorCode::bad_input,
         "{} is set but missing from the sampling order; add it there or set it to its neutral "
         "value",
         stage->name);
  }
}

}  // namespace arion
