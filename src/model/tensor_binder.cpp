// Takes tensors by name, each checked against the shape the model expects.
#include "model/tensor_binder.h"

#include <cmath>
#include <string_view>

#include "base/error.h"

namespace arion {

const GgufTensor* TensorBinder::take(const std::string& name, int rows, int cols) {
  const GgufTensor* tensor = file_.find_tensor(name);
  if (tensor == nullptr) return nullptr;
  if (tensor->rows() != static_cast<uint64_t>(rows) ||
      tensor->cols() != static_cast<uint64_t>(cols)) {
    const std::vector<uint64_t> expected = {static_cast<uint64_t>(cols),
                                            static_cast<uint64_t>(rows)};
    fail(ErrorCode::bad_input,
         "{}: tensor {} has shape {}, expected {}; the metadata and the tensors disagree",
         file_.file_names()[tensor->file], name, describe_dims(tensor->dims()),
         describe_dims(std::span(expected).first(rows == 1 ? 1 : 2)));
  }
  return tensor;
}

// The factor of all values of a matrix. NAME.input_scale, a calibrated range of the activations, is
// for hardware that quantises them to four bits: here nothing depends on it.
float TensorBinder::matrix_scale(const std::string& name) {
  constexpr std::string_view kSuffix = ".weight";
  if (!name.ends_with(kSuffix)) return 1.0f;
  const std::string base = name.substr(0, name.size() - kSuffix.size());
  find_values(base + ".input_scale", 1);
  const auto scale = find_values(base + ".scale", 1);
  if (!scale) return 1.0f;
  if (!std::isfinite(scale->front())) {
    fail(ErrorCode::bad_input, "{}: tensor {}.scale holds {}, expected a finite number",
         file_.file_names()[0], base, scale->front());
  }
  return scale->front();
}

WeightId TensorBinder::bind(const std::string& name, int rows, int cols, float scale) {
  if (const auto it = taken_.find(name); it != taken_.end()) return it->second;
  const GgufTensor* tensor = take(name, rows, cols);
  if (tensor == nullptr) return {};
  const WeightId id = builder_.weight({.name = name,
                                       .format = &file_.weight_format(*tensor),
                                       .rows = rows,
                                       .cols = cols,
                                       .data = tensor->data,
                                       .scale = scale});
  taken_.emplace(name, id);
  return id;
}

WeightId TensorBinder::find_matrix(const std::string& name, int rows, int cols) {
  return bind(name, rows, cols, matrix_scale(name));
}

WeightId TensorBinder::find_vector(const std::string& name, int size) {
  return bind(name, 1, size, 1.0f);
}

WeightId TensorBinder::matrix(const std::string& name, int rows, int cols) {
  return require(find_matrix(name, rows, cols), name);
}

WeightId TensorBinder::vector(const std::string& name, int size) {
  return require(find_vector(name, size), name);
}

WeightId TensorBinder::require(WeightId id, const std::string& name) const {
  if (!id) {
    fail(ErrorCode::bad_input, "{}: tensor {} is missing; the file may be incomplete",
         file_.file_names()[0], name);
  }
  return id;
}

std::optional<std::vector<float>> TensorBinder::find_values(const std::string& name, int size) {
  const GgufTensor* tensor = take(name, 1, size);
  if (tensor == nullptr) return std::nullopt;
  taken_.emplace(name, WeightId{});
  std::vector<float> values(static_cast<size_t>(size));
  file_.weight_format(*tensor).decode_row(tensor->data, values);
  return values;
}

void TensorBinder::check_leftovers() const {
  for (const GgufTensor& tensor : file_.tensors()) {
    if (taken_.contains(tensor.name)) continue;
    fail(ErrorCode::bad_input,
         "{}: tensor {} {} is not used by this architecture; the model would be wrong without it",
         file_.file_names()[tensor.file], tensor.name, describe_dims(tensor.dims()));
  }
}

}  // namespace arion
