// Orders of stages as other engines have them, and checks of custom ones.
//
//   default    top_n_sigma, top_k, typical_p, top_p, min_p, top_h, epsilon_cutoff, eta_cutoff, xtc,
//              temperature; penalties as vllm
//   llama.cpp  the same order; penalties look at the last 64 tokens, prompt included
//   vllm       temperature, min_p, top_k, top_p, then what vLLM does not have; repetition looks at
//              prompt and answer, presence and frequency at the answer
//   hf         temperature, top_h, top_k, top_p, min_p, typical_p, epsilon_cutoff, eta_cutoff, then
//              what transformers does not have; all penalties look at prompt and answer
//
// Temperature first (vllm, hf) makes it change what top-p, min-p and the like keep; last, they see
// the model's own distribution. Everything else is the same for all orders.
#pragma once
#include <span>
#include <string_view>

#include "sample/stage.h"

namespace arion {

struct SamplingPreset {
  const char* name;
  std::span<const std::string_view> order;
  int penalty_last_n;
  bool penalties_count_prompt;
};

std::span<const SamplingPreset> sampling_presets();

// Sets the order and which tokens penalties look at; no other value. Throws Error{usage} naming the
// presets there are.
void apply_preset(std::string_view name, SamplingParams& params);

// Throws Error{bad_input} for an unknown or repeated stage, and for one that is on but missing.
void check_order(const SamplingParams& params);

// Calls use(stage) for the stages that are on, in their order. `params` have passed check_order.
template <typename Use>
void for_each_stage(const SamplingParams& params, const Use& use) {
  const auto visit = [&](std::string_view name) {
    const Stage& stage = *find_stage(name);
    if (stage.is_on(params)) use(stage);
  };
  if (params.order.empty()) {
    for (const std::string_view name : sampling_presets().front().order) visit(name);
  } else {
    for (const std::string& name : params.order) visit(name);
  }
}

}  // namespace arion
