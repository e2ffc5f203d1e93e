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
  // Removes what was written unless close() was reached.
  ~NpyWriter();
  NpyWriter(const NpyWriter&) = delete;
  NpyWriter& operator=(const NpyWriter&) = delete;

  void append(std::span<const float> row);
  void close();  // throws Error{failed} when anything was not written

 private:
  std::string path_;
  std::ofstream out_;
  bool is_complete_ = false;
};

}  // namespace arion::app
