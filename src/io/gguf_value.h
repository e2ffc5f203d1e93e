// Decoding of single GGUF values from checked payloads.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "io/gguf_metadata.h"

namespace arion {

static_assert(std::endian::native == std::endian::little, "GGUF values are read in place");

template <typename T>
T load_value(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));  // the file promises no alignment
  return value;
}

// Nothing when `type` is no integer type, or for an u64 of 2^63 and more.
inline std::optional<int64_t> load_integer(GgufType type, const std::byte* from) {
  switch (type) {
    case GgufType::u8:
      return load_value<uint8_t>(from);
    case GgufType::i8:
      return load_value<int8_t>(from);
    case GgufType::u16:
      return load_value<uint16_t>(from);
    case GgufType::i16:
      return load_value<int16_t>(from);
    case GgufType::u32:
      return load_value<uint32_t>(from);
    case GgufType::i32:
      return load_value<int32_t>(from);
    case GgufType::i64:
      return load_value<int64_t>(from);
    case GgufType::u64: {
      const auto value = load_value<uint64_t>(from);
      if (value > INT64_MAX) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

// Nothing when `type` is no floating-point type.
inline std::optional<double> load_float(GgufType type, const std::byte* from) {
  if (type == GgufType::f32) return load_value<float>(from);
  if (type == GgufType::f64) return load_value<double>(from);
  return std::nullopt;
}

// The string at the start of a checked payload: u64 length, then the bytes.
inline std::string_view load_string(std::span<const std::byte> from) {
  const auto length = load_value<uint64_t>(from.data());
  return {reinterpret_cast<const char*>(from.data()) + sizeof(uint64_t), length};
}

}  // namespace arion
