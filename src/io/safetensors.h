// The safetensors container: a JSON header, then the bytes of all tensors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace arion {

// One tensor; `data` points into the file and is not aligned. `shape` is row-major, the contiguous
// dimension last; the byte size is known to be that of shape and type.
struct SafetensorsTensor {
  std::string name;
  std::string_view dtype;  // "F32", "BF16", "F8_E4M3", ...; static
  std::vector<uint64_t> shape;
  std::span<const std::byte> data;
};

// All tensors of a file, by offset. Throws Error{bad_input} naming `name` for anything malformed: a
// header beyond the file or 100 MB, duplicate keys, unknown types, overflowing shapes, tensors that
// overlap or leave bytes between them or at the end.
// Source: https://github.com/huggingface/safetensors, section "Format".
std::vector<SafetensorsTensor> parse_safetensors(std::span<const std::byte> file,
                                                 const std::string& name);

}  // namespace arion
