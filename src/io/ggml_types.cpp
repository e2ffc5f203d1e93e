// The table of ggml tensor types (ggml.h of upstream and of ik_llama.cpp, as of August 2026).
#include "io/ggml_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace arion {
namespace {

using enum GgmlTypeStatus;

constexpr std::array kTypes = {
    GgmlType{0, "F32", standard, 1, 4},
    GgmlType{1, "F16", standard, 1, 2},
    GgmlType{2, "Q4_0", standard, 32, 18},
    GgmlType{3, "Q4_1", standard, 32, 20},
    GgmlType{4, "Q4_2", removed, 0, 0},
    GgmlType{5, "Q4_3", removed, 0, 0},
    GgmlType{6, "Q5_0", standard, 32, 22},
    GgmlType{7, "Q5_1", standard, 32, 24},
    GgmlType{8, "Q8_0", standard, 32, 34},
    GgmlType{9, "Q8_1", standard, 32, 36},
    GgmlType{10, "Q2_K", standard, 256, 84},
    GgmlType{11, "Q3_K", standard, 256, 110},
    GgmlType{12, "Q4_K", standard, 256, 144},
    GgmlType{13, "Q5_K", standard, 256, 176},
    GgmlType{14, "Q6_K", standard, 256, 210},
    GgmlType{15, "Q8_K", standard, 256, 292},
    GgmlType{16, "IQ2_XXS", standard, 256, 66},
    GgmlType{17, "IQ2_XS", standard, 256, 74},
    GgmlType{18, "IQ3_XXS", standard, 256, 98},
    GgmlType{19, "IQ1_S", standard, 256, 50},
    GgmlType{20, "IQ4_NL", standard, 32, 18},
    GgmlType{21, "IQ3_S", standard, 256, 110},
    GgmlType{22, "IQ2_S", standard, 256, 82},
    GgmlType{23, "IQ4_XS", standard, 256, 136},
    GgmlType{24, "I8", standard, 1, 1},
    GgmlType{25, "I16", standard, 1, 2},
    GgmlType{26, "I32", standard, 1, 4},
    GgmlType{27, "I64", standard, 1, 8},
    GgmlType{28, "F64", standard, 1, 8},
    GgmlType{29, "IQ1_M", standard, 256, 56},
    GgmlType{30, "BF16", standard, 1, 2},
    GgmlType{31, "Q4_0_4_4", removed, 0, 0},
    GgmlType{32, "Q4_0_4_8", removed, 0, 0},
    GgmlType{33, "Q4_0_8_8", removed, 0, 0},
    GgmlType{34, "TQ1_0", standard, 256, 54},
    GgmlType{35, "TQ2_0", standard, 256, 66},
    GgmlType{36, "IQ4_NL_4_4 (or I2_S of BitNet)", removed, 0, 0},
    GgmlType{37, "IQ4_NL_4_8", removed, 0, 0},
    GgmlType{38, "IQ4_NL_8_8", removed, 0, 0},
    GgmlType{39, "MXFP4", standard, 32, 17},
    GgmlType{40, "NVFP4", standard, 64, 36},
    GgmlType{41, "Q1_0", standard, 128, 18},
    GgmlType{42, "Q2_0", standard, 64, 18},
    GgmlType{133, "Q6_0", fork_only, 0, 0},
    GgmlType{134, "IQ1_BN", fork_only, 0, 0},
    GgmlType{135, "IQ2_BN", fork_only, 0, 0},
    GgmlType{137, "IQ2_K", fork_only, 0, 0},
    GgmlType{138, "IQ3_K", fork_only, 0, 0},
    GgmlType{139, "IQ4_K", fork_only, 0, 0},
    GgmlType{140, "IQ5_K", fork_only, 0, 0},
    GgmlType{141, "IQ6_K", fork_only, 0, 0},
    GgmlType{144, "IQ4_KS", fork_only, 0, 0},
    GgmlType{145, "IQ2_KS", fork_only, 0, 0},
    GgmlType{146, "IQ4_KSS", fork_only, 0, 0},
    GgmlType{152, "IQ5_KS", fork_only, 0, 0},
    GgmlType{153, "IQ2_KT", fork_only, 0, 0},
    GgmlType{154, "IQ3_KT", fork_only, 0, 0},
    GgmlType{155, "IQ4_KT", fork_only, 0, 0},
    GgmlType{156, "IQ3_KS", fork_only, 0, 0},
    GgmlType{157, "IQ2_KL", fork_only, 0, 0},
    GgmlType{158, "IQ1_KT", fork_only, 0, 0},
};

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
