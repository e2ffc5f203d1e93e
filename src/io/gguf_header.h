// Everything a GGUF file says before its data: version, metadata and the checked tensor list.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/gguf_metadata.h"

namespace arion {

// One tensor; name and data point into the file. Dimensions are in ggml order: dims()[0] is the
// contiguous one, so that a [rows, cols] weight has dims {cols, rows}. 1 to 4, none zero; their
// product and the byte size are known not to overflow.
struct GgufTensor {
  std::string_view name;
  std::array<uint64_t, 4> ne;  // unused ones are 1
  std::span<const std::byte> data;
  uint32_t type;  // ggml type id, of a standard type
  uint16_t file;  // which file of a split model
  uint8_t dim_count;

  std::span<const uint64_t> dims() const { return {ne.data(), dim_count}; }
  uint64_t cols() const { return ne[0]; }
  uint64_t rows() const { return ne[1] * ne[2] * ne[3]; }
  uint64_t values() const { return cols() * rows(); }
};

// "[2048, 4096]", in the order of dims().
std::string describe_dims(std::span<const uint64_t> dims);

// Limits that no honest file comes near; a hostile one must not make the reader allocate.
struct GgufLimits {
  static constexpr uint64_t kEntries = 65'536;
  static constexpr uint64_t kTensors = 1'000'000;
  static constexpr uint64_t kKeyBytes = 65'535;
  static constexpr uint64_t kNameBytes = 63;  // GGML_MAX_NAME less the terminator
  static constexpr uint64_t kStringBytes = 64u << 20;
  static constexpr uint64_t kArrayValues = 64u << 20;
  static constexpr uint64_t kMinAlignment = 8;
  static constexpr uint64_t kMaxAlignment = 65'536;
};

struct GgufHeader {
  uint32_t version = 0;  // 2 or 3
  uint64_t alignment = 32;
  uint64_t data_offset = 0;  // of the data blob, from the start of the file
  GgufMetadata metadata;
  std::vector<GgufTensor> tensors;  // in file order
};

// Parses one whole file in memory. Views point into `file`. `name` is what messages call the file.
// Throws Error{bad_input} for anything malformed. Duplicate tensor names are the caller's check,
// because they may be spread over several files.
GgufHeader parse_gguf_header(std::span<const std::byte> file, const std::string& name);

}  // namespace arion
