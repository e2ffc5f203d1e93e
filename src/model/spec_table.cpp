// One row per architecture.
#include <array>
#include <string>

#include "base/error.h"
#include "model/spec.h"

namespace arion {
namespace {

using enum RopePairing;

constexpr std::array kSpecs = {
    ArchSpec{.name = "llama"},
    ArchSpec{.name = "qwen2", .pairing = half_split},
    ArchSpec{.name = "qwen3", .pairing = half_split},
    // The 27B model, known by its 62 layers, scales scores by 1 / sqrt(hidden / heads).
    ArchSpec{.name = "gemma3",
             .pairing = half_split,
             .activation = Activation::gelu_tanh,
             .scales_embedding = true,
             .window_period = 6,
             .window_rope_base = 10000,
             .hidden_scale_layers = 62},
};

}  // namespace

std::span<const ArchSpec> arch_specs() {
  return kSpecs;
}

const ArchSpec& find_arch_spec(std::string_view name) {
  for (const ArchSpec& spec : kSpecs) {
    if (spec.name == name) return spec;
  }
  std::string known;
  for (const ArchSpec& spec : kSpecs)
    known += std::string(known.empty() ? "" : ", ") + std::string(spec.name);
  fail(ErrorCode::bad_input, "architecture '{}' is not supported; supported are {}", name, known);
}

}  // namespace arion
