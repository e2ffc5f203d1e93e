// Activation matrices for kernel tests. All memory starts as NaN, so that reading what nobody wrote
// shows in the result, and whole buffers can be compared bit for bit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "base/philox.h"
#include "op/kernel_args.h"
#include "op/reference_matrix.h"
#include "tensor/memory.h"

namespace arion::test {

// 0xff bytes are NaN as f32, f16 and bf16, and -1 as codes.
inline constexpr int kPoison = 0xff;

class Matrix {
 public:
  Matrix(ActivationForm form, int rows, int cols)
      : form_(form), rows_(rows), cols_(cols), memory_(activation_bytes(form, rows, cols) + 64) {
    std::memset(memory_.data(), kPoison, memory_.size());
  }
  Matrix(int rows, int cols) : Matrix(ActivationForm::f32, rows, cols) {}

  Ref ref() const { return {.base = memory_.data()}; }
  int rows() const { return rows_; }
  int cols() const { return cols_; }

  // Writes an f32 row, padding included.
  void set_row(int row, std::span<const float> values) {
    reference_store(ref(), row, std::vector<double>(values.begin(), values.end()));
  }
  std::span<float> row(int r) { return reference_f32_row(ref(), r, cols_); }
  std::vector<double> values(int row) const { return reference_load(ref(), form_, row, cols_); }
  std::vector<double> values() const {
    std::vector<double> all;
    for (int r = 0; r < rows_; ++r) {
      const std::vector<double> one = values(r);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  // True when nothing of an f32 row was written.
  bool is_untouched(int r) const {
    for (const double v : values(r)) {
      if (v == v) return false;
    }
    return true;
  }
  bool operator==(const Matrix& other) const {
    return memory_.size() == other.memory_.size() &&
           std::memcmp(memory_.data(), other.memory_.data(), memory_.size()) == 0;
  }

 private:
  ActivationForm form_;
  int rows_, cols_;
  Memory memory_;
};

// A number in [-1, 1) that depends on nothing but its coordinates.
inline float noise(uint32_t seed, uint32_t a, uint32_t b = 0, uint32_t c = 0, uint32_t d = 0) {
  return static_cast<float>(static_cast<int32_t>(philox({a, b, c, d}, {seed, 7})[0])) * 0x1p-31f;
}

inline Matrix noise_matrix(uint32_t seed, int rows, int cols, float scale = 1) {
  Matrix matrix(rows, cols);
  std::vector<float> row(cols);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) row[c] = scale * noise(seed, r, c);
    matrix.set_row(r, row);
  }
  return matrix;
}

inline std::vector<float> noise_vector(uint32_t seed, int size, float offset = 0) {
  std::vector<float> v(size);
  for (int i = 0; i < size; ++i) v[i] = offset + noise(seed, i);
  return v;
}

}  // namespace arion::test
