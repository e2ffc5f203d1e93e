// Reads the .npy files of the corpus: f32, i64, i32, and bf16 stored as u16.
#pragma once
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/half.h"
#include "test_data.h"

namespace arion::test {

struct Npy {
  std::vector<int> shape;
  std::vector<double> values;
};

inline Npy read_npy(const std::filesystem::path& path) {
  const std::string file = read_file(path);
  if (file.size() < 10 || file.compare(1, 5, "NUMPY") != 0) {
    throw std::runtime_error(path.string() + " is no .npy file");
  }
  uint16_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data() + 8, sizeof header_bytes);
  const std::string header = file.substr(10, header_bytes);
  const char* data = file.data() + 10 + header_bytes;
  const size_t bytes = file.size() - 10 - header_bytes;

  Npy array;
  const size_t open = header.find('(');
  const std::string shape = header.substr(open + 1, header.find(')') - open - 1);
  for (size_t at = 0; at < shape.size();) {
    array.shape.push_back(std::stoi(shape.substr(at)));
    at = shape.find(',', at);
    if (at == std::string::npos || shape.find_first_of("0123456789", at) == std::string::npos)
      break;
    ++at;
  }
  const auto is_type = [&](const char* name) { return header.find(name) != std::string::npos; };
  const auto read = [&]<typename T>(T) {
    for (size_t i = 0; (i + 1) * sizeof(T) <= bytes; ++i) {
      T value;
      std::memcpy(&value, data + i * sizeof(T), sizeof(T));
      if constexpr (sizeof(T) == 2) {
        array.values.push_back(bfloat16_to_float(value));
      } else {
        array.values.push_back(static_cast<double>(value));
      }
    }
  };
  if (is_type("<f4")) {
    read(float{});
  } else if (is_type("<i8")) {
    read(int64_t{});
  } else if (is_type("<i4")) {
    read(int32_t{});
  } else if (is_type("<u2")) {
    read(uint16_t{});
  } else {
    throw std::runtime_error(path.string() + ": unexpected element type in " + header);
  }
  return array;
}

}  // namespace arion::test
