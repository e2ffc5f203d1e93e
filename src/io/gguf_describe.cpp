// How metadata looks to people: type names, and values cut to a line.
#include <fmt/format.h>

#include <algorithm>

#include "io/gguf_metadata.h"
#include "io/gguf_value.h"

namespace arion {
namespace {

// Length of the UTF-8 character `text` starts with; 0 when it is malformed or a control character.
size_t printable_character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7F ? 1 : 0;
  const size_t bytes = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < bytes) return 0;
  uint32_t code = byte(0) & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0xA0, 0x800, 0x10000};  // from 0xA0: no C1 controls
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kSmallest[bytes] || code > 0x10FFFF || is_surrogate ? 0 : bytes;
}

std::string describe_one(GgufType type, std::span<const std::byte> payload, size_t max_bytes) {
  switch (type) {
    case GgufType::string:
      return printable(load_string(payload), max_bytes);
    case GgufType::boolean:
      return payload[0] == std::byte{0} ? "false" : "true";
    case GgufType::u64:
      return fmt::to_string(load_value<uint64_t>(payload.data()));
    case GgufType::f32:
      return fmt::to_string(load_value<float>(payload.data()));
    case GgufType::f64:
      return fmt::to_string(load_value<double>(payload.data()));
    default:
      return fmt::to_string(load_integer(type, payload.data()).value_or(0));
  }
}

}  // namespace

std::string_view gguf_type_name(GgufType type) {
  constexpr std::string_view kNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                         "bool", "string", "array", "u64", "i64", "f64"};
  return kNames[static_cast<size_t>(type)];
}

size_t gguf_type_bytes(GgufType type) {
  constexpr uint8_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kBytes[static_cast<size_t>(type)];
}

std::string printable(std::string_view text, size_t max_bytes) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (out.size() >= max_bytes) return out + "...";
    const size_t bytes = printable_character_bytes(text.substr(i));
    if (bytes > 0) {
      out += text.substr(i, bytes);
    } else if (text[i] == '\n') {
      out += "\\n";
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    }
    i += std::max<size_t>(bytes, 1);
  }
  return out;
}

std::string describe_type(const GgufEntry& entry) {
  const std::string_view name = gguf_type_name(entry.element);
  return entry.is_array() ? fmt::format("{}[{}]", name, entry.count) : std::string(name);
}

std::string describe_value(const GgufEntry& entry, size_t max_bytes) {
  if (!entry.is_array()) return describe_one(entry.element, entry.payload, max_bytes);
  std::string out = "[";
  std::span<const std::byte> rest = entry.payload;
  for (uint64_t i = 0; i < entry.count; ++i) {
    if (i > 0) out += ", ";
    if (out.size() >= max_bytes) return out + "...]";
    out += describe_one(entry.element, rest, max_bytes);
    const size_t bytes = entry.element == GgufType::string
                             ? sizeof(uint64_t) + load_string(rest).size()
                             : gguf_type_bytes(entry.element);
    rest = rest.subspan(bytes);
  }
  return out + "]";
}

}  // namespace arion
