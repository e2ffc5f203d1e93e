// Writes a float32 matrix as a NumPy .npy file, row by row.
#pragma once
#include <cstddef>
#include <span>

#include "base/output_file.h"

namespace arion::app {

class NpyWriter {
 public:
  // Begins the file with its header; `out` must outlive the writer. Throws Error as
  // OutputFile::write.
  NpyWriter(OutputFile& out, size_t rows, size_t cols);

  void append(std::span<const float> row) { out_.write(std::as_bytes(row)); }

 private:
  OutputFile& out_;
};

}  // namespace arion::app
