// Element types of activations and of KV storage.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace arion {

enum class DType : uint8_t { f32, f16, bf16 };

constexpr size_t dtype_bytes(DType type) {
  return type == DType::f32 ? 4 : 2;
}

constexpr std::string_view dtype_name(DType type) {
  switch (type) {
    case DType::f32:
      return "f32";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
  }
  return "?";
}

}  // namespace arion
