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

// The mixture of types a file was made with (key general.file_type): "Q4_K_M", or "mixture 99" when
// unknown. Only a label: the tensors say what they are.
std::string ggml_mixture_name(uint64_t file_type);

}  // namespace arion
