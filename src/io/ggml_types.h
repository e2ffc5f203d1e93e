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

// Source: ggml.h of upstream and of ik_llama.cpp, as of August 2026. By ascending id.
inline constexpr GgmlType kGgmlTypes[] = {
    {0, "F32", GgmlTypeStatus::standard, 1, 4},
    {1, "F16", GgmlTypeStatus::standard, 1, 2},
    {2, "Q4_0", GgmlTypeStatus::standard, 32, 18},
    {3, "Q4_1", GgmlTypeStatus::standard, 32, 20},
    {4, "Q4_2", GgmlTypeStatus::removed, 0, 0},
    {5, "Q4_3", GgmlTypeStatus::removed, 0, 0},
    {6, "Q5_0", GgmlTypeStatus::standard, 32, 22},
    {7, "Q5_1", GgmlTypeStatus::standard, 32, 24},
    {8, "Q8_0", GgmlTypeStatus::standard, 32, 34},
    {9, "Q8_1", GgmlTypeStatus::standard, 32, 36},
    {10, "Q2_K", GgmlTypeStatus::standard, 256, 84},
    {11, "Q3_K", GgmlTypeStatus::standard, 256, 110},
    {12, "Q4_K", GgmlTypeStatus::standard, 256, 144},
    {13, "Q5_K", GgmlTypeStatus::standard, 256, 176},
    {14, "Q6_K", GgmlTypeStatus::standard, 256, 210},
    {15, "Q8_K", GgmlTypeStatus::standard, 256, 292},
    {16, "IQ2_XXS", GgmlTypeStatus::standard, 256, 66},
    {17, "IQ2_XS", GgmlTypeStatus::standard, 256, 74},
    {18, "IQ3_XXS", GgmlTypeStatus::standard, 256, 98},
    {19, "IQ1_S", GgmlTypeStatus::standard, 256, 50},
    {20, "IQ4_NL", GgmlTypeStatus::standard, 32, 18},
    {21, "IQ3_S", GgmlTypeStatus::standard, 256, 110},
    {22, "IQ2_S", GgmlTypeStatus::standard, 256, 82},
    {23, "IQ4_XS", GgmlTypeStatus::standard, 256, 136},
    {24, "I8", GgmlTypeStatus::standard, 1, 1},
    {25, "I16", GgmlTypeStatus::standard, 1, 2},
    {26, "I32", GgmlTypeStatus::standard, 1, 4},
    {27, "I64", GgmlTypeStatus::standard, 1, 8},
    {28, "F64", GgmlTypeStatus::standard, 1, 8},
    {29, "IQ1_M", GgmlTypeStatus::standard, 256, 56},
    {30, "BF16", GgmlTypeStatus::standard, 1, 2},
    {31, "Q4_0_4_4", GgmlTypeStatus::removed, 0, 0},
    {32, "Q4_0_4_8", GgmlTypeStatus::removed, 0, 0},
    {33, "Q4_0_8_8", GgmlTypeStatus::removed, 0, 0},
    {34, "TQ1_0", GgmlTypeStatus::standard, 256, 54},
    {35, "TQ2_0", GgmlTypeStatus::standard, 256, 66},
    {36, "IQ4_NL_4_4 (or I2_S of BitNet)", GgmlTypeStatus::removed, 0, 0},
    {37, "IQ4_NL_4_8", GgmlTypeStatus::removed, 0, 0},
    {38, "IQ4_NL_8_8", GgmlTypeStatus::removed, 0, 0},
    {39, "MXFP4", GgmlTypeStatus::standard, 32, 17},
    {40, "NVFP4", GgmlTypeStatus::standard, 64, 36},
    {41, "Q1_0", GgmlTypeStatus::standard, 128, 18},
    {42, "Q2_0", GgmlTypeStatus::standard, 64, 18},
    {133, "Q6_0", GgmlTypeStatus::fork_only, 0, 0},
    {134, "IQ1_BN", GgmlTypeStatus::fork_only, 0, 0},
    {135, "IQ2_BN", GgmlTypeStatus::fork_only, 0, 0},
    {137, "IQ2_K", GgmlTypeStatus::fork_only, 0, 0},
    {138, "IQ3_K", GgmlTypeStatus::fork_only, 0, 0},
    {139, "IQ4_K", GgmlTypeStatus::fork_only, 0, 0},
    {140, "IQ5_K", GgmlTypeStatus::fork_only, 0, 0},
    {141, "IQ6_K", GgmlTypeStatus::fork_only, 0, 0},
    {144, "IQ4_KS", GgmlTypeStatus::fork_only, 0, 0},
    {145, "IQ2_KS", GgmlTypeStatus::fork_only, 0, 0},
    {146, "IQ4_KSS", GgmlTypeStatus::fork_only, 0, 0},
    {152, "IQ5_KS", GgmlTypeStatus::fork_only, 0, 0},
    {153, "IQ2_KT", GgmlTypeStatus::fork_only, 0, 0},
    {154, "IQ3_KT", GgmlTypeStatus::fork_only, 0, 0},
    {155, "IQ4_KT", GgmlTypeStatus::fork_only, 0, 0},
    {156, "IQ3_KS", GgmlTypeStatus::fork_only, 0, 0},
    {157, "IQ2_KL", GgmlTypeStatus::fork_only, 0, 0},
    {158, "IQ1_KT", GgmlTypeStatus::fork_only, 0, 0},
};

// The id of a type of the table. Known names only.
consteval uint32_t ggml_type_number(std::string_view name) {
  const GgmlType* type = kGgmlTypes;
  while (type->name != name) ++type;
  return type->id;
}

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
