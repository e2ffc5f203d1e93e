// Which type each tensor of a model gets when a file is quantised: the mixtures that llama.cpp's
// tool offers, with its rules.
// Source: llama.cpp, src/llama-quant.cpp (llama_tensor_get_type), August 2026.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/gguf.h"

namespace arion {

// A named way of quantising a whole model. `base` is the ggml type most tensors get.
struct Mixture {
  std::string_view name;
  uint32_t file_type;  // value of general.file_type
  uint32_t base;
};

std::span<const Mixture> mixtures();

// By name in any case; "Q3_K", "Q4_K" and "Q5_K" mean their M mixtures. Throws Error{usage},
// listing all names, when there is none.
const Mixture& require_mixture(std::string_view name);

// A choice of the user that goes before the rules.
struct TypeOverride {
  std::string pattern;           // of whole tensor names; * and ? as in file names
  std::optional<uint32_t> type;  // ggml type id; nothing: as in the source
};

// From "PATTERN=TYPE"; TYPE "source" leaves a tensor as it is. Throws Error{usage}.
TypeOverride parse_type_override(std::string_view text);

struct MixtureOptions {
  const Mixture& mixture;
  std::span<const TypeOverride> overrides = {};  // the first that matches counts
  bool has_importance = false;
  bool is_pure = false;  // the base type for all, but for what is never quantised
};

struct TypeChoice {
  uint32_t type = 0;                 // ggml type id
  uint32_t wanted = 0;               // differs from `type` where rows do not divide into its blocks
  bool requires_importance = false;  // the type is too coarse without
};

// One choice for each tensor of the file, in its order. Throws Error{usage} naming a pattern of the
// overrides that no tensor matches, or only such that cannot have its type.
std::vector<TypeChoice> choose_types(const GgufFile& file, const MixtureOptions& options);

}  // namespace arion
