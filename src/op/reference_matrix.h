// Rows of activation matrices as the reference reads and writes them.
#pragma once
#include <cmath>
#include <span>
#include <vector>

#include "op/kernel_args.h"

namespace arion {

// Row `row` of a matrix of f32 or bf16 elements.
template <typename T>
T* reference_row(const Ref& ref, ActivationForm form, int row, int cols) {
  return reinterpret_cast<T*>(ref.at<std::byte>(0) +
                              static_cast<size_t>(row) * activation_stride(form, cols));
}

inline std::span<float> reference_f32_row(const Ref& ref, int row, int cols) {
  return {reference_row<float>(ref, ActivationForm::f32, row, cols), static_cast<size_t>(cols)};
}

// Exact values of one row in any form.
std::vector<double> reference_load(const Ref& ref, ActivationForm form, int row, int cols);

// Rounds one row to f32 and writes it, zero padding included.
void reference_store(const Ref& ref, int row, std::span<const double> values);

// The same in every wanted form. bf16 and int8 are made from the f32 values.
void reference_store(const Outputs& out, int row, std::span<const double> values);

}  // namespace arion
