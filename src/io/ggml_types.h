// The tensor types a GGUF file may name: ids, block sizes, and which are refused.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace arion {

enum class GgmlTypeStatus : uint8_t {
  standard,  // the sizes are valid
  removed,   // once in the format, withdrawn: files must be converted again
  fork_only  // ids of incompatible forks
};

struct GgmlType {
  uint32_t id;
  std::string_view name;
  GgmlTypeStatus status;
  uint32_t block_values;  // columns per block; 0 unless standard
  uint32_t block_bytes;
};

// Null for an id nobody is known to use.
const GgmlType* find_ggml_type(uint32_t id);
const GgmlType* find_ggml_type(std::string_view name);

// For messages: "Q4_0", or "type 77" when unknown.
std::string ggml_type_name(uint32_t id);

// By value of general.file_type; empty where upstream withdrew the number.
inline constexpr std::string_view kGgmlMixtures[] = {
    "F32",   "F16",     "Q4_0",      "Q4_1",   "",       "",        "",       "Q8_0",   "Q5_0",
    "Q5_1",  "Q2_K",    "Q3_K_S",    "Q3_K_M", "Q3_K_L", "Q4_K_S",  "Q4_K_M", "Q5_K_S", "Q5_K_M",
    "Q6_K",  "IQ2_XXS", "IQ2_XS",    "Q2_K_S", "IQ3_XS", "IQ3_XXS", "IQ1_S",  "IQ4_NL", "IQ3_S",
    "IQ3_M", "IQ2_S",   "IQ2_M",     "IQ4_XS", "IQ1_M",  "BF16",    "",       "",       "",
    "TQ1_0", "TQ2_0",   "MXFP4_MOE", "NVFP4",  "Q1_0",   "Q2_0"};

// The number of a mixture of the table. Known names only.
consteval uint32_t ggml_mixture_number(std::string_view name) {
  uint32_t number = 0;
  while (kGgmlMixtures[number] != name) ++number;
  return number;
}

// The mixture of types a file was made with (key general.file_type): "Q4_K_M", or "mixture 99" when
// unknown. Only a label: the tensors say what they are.
std::string ggml_mixture_name(uint64_t file_type);

}  // namespace arion
