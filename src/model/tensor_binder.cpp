// Takes tensors by name, each checked against the shape the model expects.
#include "model/tensor_binder.h"

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

WeightId TensorBinder::find_matrix(const std::string& name, int rows, int cols) {
  if (const auto it = taken_.find(name); it != taken_.end()) return it->second;
  const GgufTensor* tensor = take(name, rows, cols);
  if (tensor == nullptr) return {};
  const WeightId id = builder_.weight({.name = name,
                                       .format = &file_.weight_format(*tensor),
                                       .rows = rows,
                                       .cols = cols,
                                       .data = tensor->data});
  taken_.emplace(name, id);
  return id;
}

WeightId TensorBinder::find_vector(const std::string& name, int size) {
  return find_matrix(name, 1, size);
}

WeightId TensorBinder::matrix(const std::string& name, int rows, int cols) {
  const WeightId id = find_matrix(name, rows, cols);
  if (!id) {
    fail(ErrorCode::bad_input, "{}: tensor {} is missing; the file may be incomplete",
         file_.file_names()[0], name);
  }
  return id;
}

WeightId TensorBinder::vector(const std::string& name, int size) {
  return matrix(name, 1, size);
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
