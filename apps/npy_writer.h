// Writes a float32 matrix as a NumPy .npy file, row by row.
#pragma once
#include <cstddef>
#include <fstream>
#include <span>
#include <string>

namespace arion::app {

class NpyWriter {
 public:
  // Throws Error{failed} when the file cannot be written.
  NpyWriter(const std::string& path, size_t rows, size_t cols);
  void append(std::span<const float> row);
  void close();  // throws Error{failed} when anything was not written

 private:
  std::string path_;
  std::ofstream out_;
};

}  // namespace arion::app
