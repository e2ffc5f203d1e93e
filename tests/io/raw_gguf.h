// GGUF files byte by byte, for inputs no writer would make.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/gguf.h"

namespace arion::test {

template <typename T>
std::string raw(T value) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}

inline std::string raw_string(std::string_view text) {
  return raw<uint64_t>(text.size()) + std::string(text);
}

// A key, its type and an already encoded value.
inline std::string raw_entry(std::string_view key, GgufType type, std::string_view value) {
  return raw_string(key) + raw(static_cast<uint32_t>(type)) + std::string(value);
}

inline std::string raw_array(std::string_view key, GgufType element, uint64_t count,
                             std::string_view values) {
  return raw_entry(key, GgufType::array,
                   raw(static_cast<uint32_t>(element)) + raw(count) + std::string(values));
}

inline std::string raw_tensor(std::string_view name, const std::vector<uint64_t>& dims,
                              uint32_t type, uint64_t offset) {
  std::string out = raw_string(name) + raw(static_cast<uint32_t>(dims.size()));
  for (const uint64_t ne : dims) out += raw(ne);
  return out + raw(type) + raw(offset);
}

// The parts of a file; the counts follow from the lists unless set.
struct RawGguf {
  uint32_t version = 3;
  std::vector<std::string> entries = {};
  std::vector<std::string> tensors = {};
  size_t data_bytes = 64;
  size_t alignment = 32;
  uint64_t entry_count = UINT64_MAX;
  uint64_t tensor_count = UINT64_MAX;

  std::string bytes() const {
    const auto count = [](uint64_t set, size_t actual) { return set == UINT64_MAX ? actual : set; };
    std::string out = "GGUF" + raw(version) + raw<uint64_t>(count(tensor_count, tensors.size())) +
                      raw<uint64_t>(count(entry_count, entries.size()));
    for (const std::string& entry : entries) out += entry;
    for (const std::string& tensor : tensors) out += tensor;
    out.append((alignment - out.size() % alignment) % alignment, '\0');
    out.append(data_bytes, '\1');
    return out;
  }
};

inline GgufFile parse(const std::string& bytes) {
  return GgufFile::parse(std::as_bytes(std::span(bytes)), "test.gguf");
}

// The message of the refusal; empty when the file is accepted.
inline std::string refusal(const std::string& bytes) {
  try {
    parse(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace arion::test
