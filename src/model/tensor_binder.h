// Hands the tensors of a file to the model code, with shapes checked and leftovers named.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/builder.h"
#include "io/gguf.h"

namespace arion {

// Every tensor becomes at most one weight of the graph, however often it is asked for.
class TensorBinder {
 public:
  TensorBinder(const GgufFile& file, GraphBuilder& builder) : file_(file), builder_(builder) {}

  // Throw Error{bad_input} naming the tensor when it is missing or has another shape. A matrix
  // NAME.weight takes its factor from the tensor NAME.scale, if there is one.
  WeightId matrix(const std::string& name, int rows, int cols);
  WeightId vector(const std::string& name, int size);
  // Absent tensors give an empty id.
  WeightId find_matrix(const std::string& name, int rows, int cols);
  WeightId find_vector(const std::string& name, int size);

  // The values of a small tensor that is not part of the graph; nullopt when absent.
  std::optional<std::vector<float>> find_values(const std::string& name, int size);

  // Throws Error{bad_input} naming a tensor that nobody asked for: the model would be silently
  // wrong without it.
  void check_leftovers() const;

 private:
  const GgufTensor* take(const std::string& name, int rows, int cols);
  WeightId bind(const std::string& name, int rows, int cols, float scale);
  float matrix_scale(const std::string& name);
  WeightId require(WeightId id, const std::string& name) const;

  const GgufFile& file_;
  GraphBuilder& builder_;
  std::map<std::string, WeightId, std::less<>> taken_;
};

}  // namespace arion
