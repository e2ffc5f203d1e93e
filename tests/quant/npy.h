// Two-dimensional .npy files of the quant fixtures, read as bytes.
#pragma once
#include <cstddef>
#include <cstring>
#include <regex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "test_data.h"

namespace arion::test {

struct Npy {
  size_t rows = 0;
  std::vector<std::byte> bytes;

  size_t row_bytes() const { return bytes.size() / rows; }
  std::span<const std::byte> row(size_t i) const {
    return std::span(bytes).subspan(i * row_bytes(), row_bytes());
  }
};

inline Npy read_npy(const std::string& name) {
  const std::string file = read_file(source_dir() / "tests/golden/quant" / name);
  if (file.size() < 10 || file.compare(1, 5, "NUMPY") != 0) {
    throw std::runtime_error(name + " is not a .npy file");
  }
  const size_t start = 10 + static_cast<unsigned char>(file[8]) +
                       256 * static_cast<size_t>(static_cast<unsigned char>(file[9]));
  const std::string header = file.substr(10, start - 10);
  std::smatch shape;
  if (!std::regex_search(header, shape, std::regex(R"('shape': \((\d+), \d+\))"))) {
    throw std::runtime_error(name + " is not two-dimensional");
  }
  Npy npy;
  npy.rows = std::stoul(shape[1]);
  npy.bytes.resize(file.size() - start);
  std::memcpy(npy.bytes.data(), file.data() + start, npy.bytes.size());
  return npy;
}

inline std::vector<float> floats(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace arion::test
