// The strings and hashes that tests/golden/text/make_text.py made.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "test_data.h"

namespace arion::test {

inline nlohmann::json fuzz_golden() {
  return nlohmann::json::parse(read_file(source_dir() / "tests/golden/text/fuzz.json"));
}

// FNV-1a over the little-endian bytes of the numbers.
inline uint32_t fnv(std::span<const int32_t> numbers) {
  uint32_t value = 0x811C9DC5;
  for (const int32_t number : numbers) {
    for (int shift = 0; shift < 32; shift += 8) {
      value = (value ^ (static_cast<uint32_t>(number) >> shift & 0xFF)) * 0x01000193;
    }
  }
  return value;
}

}  // namespace arion::test
