// Look-ups.
#include "io/ggml_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

namespace arion {
namespace {

using enum GgmlTypeStatus;

constexpr std::span kTypes = kGgmlTypes;

// Row-interleaved layouts of ik_llama.cpp have the id of their base type plus 200.
constexpr uint32_t kInterleavedFirst = 200;
constexpr uint32_t kInterleavedLast = 399;
constexpr GgmlType kInterleaved = {kInterleavedFirst, "a row-interleaved type (_R4, _R8, _R16)",
                                   fork_only, 0, 0};

constexpr uint64_t kMixtureGuessed =
    1024;  // added when a tool inferred the number from the tensors

}  // namespace

const GgmlType* find_ggml_type(uint32_t id) {
  if (id >= kInterleavedFirst && id <= kInterleavedLast) return &kInterleaved;
  const auto it = std::ranges::lower_bound(kTypes, id, {}, &GgmlType::id);
  return it != kTypes.end() && it->id == id ? &*it : nullptr;
}

const GgmlType* find_ggml_type(std::string_view name) {
  const auto it = std::ranges::find(kTypes, name, &GgmlType::name);
  return it != kTypes.end() ? &*it : nullptr;
}

std::string ggml_type_name(uint32_t id) {
  const GgmlType* type = find_ggml_type(id);
  return type != nullptr ? std::string(type->name) : fmt::format("type {}", id);
}

std::string ggml_mixture_name(uint64_t file_type) {
  const bool is_guessed = file_type >= kMixtureGuessed;
  const uint64_t number = is_guessed ? file_type - kMixtureGuessed : file_type;
  if (number >= std::size(kGgmlMixtures) || kGgmlMixtures[number].empty()) {
    return fmt::format("mixture {}", file_type);
  }
  return fmt::format("{}{}", kGgmlMixtures[number], is_guessed ? " (guessed)" : "");
}

}  // namespace arion
