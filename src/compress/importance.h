// An importance matrix: for each weight matrix how large its inputs are, column by column, over a
// calibration text. Files as llama.cpp's imatrix tool writes them, GGUF and, to be read, the older
// .dat.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/gguf.h"
#include "io/gguf_metadata.h"

namespace arion {

// Sums of squared inputs of one weight tensor, which may be a stack of matrices (experts).
struct ImportanceSums {
  std::vector<float> sums;    // [matrices, cols]
  std::vector<float> counts;  // [matrices]: rows of inputs that were seen

  size_t cols() const { return counts.empty() ? 0 : sums.size() / counts.size(); }
};

// Whether a GGUF file says that it is an importance matrix.
bool is_importance_matrix(const GgufMetadata& metadata);

// Of a model: its metadata, the names, types and shapes of its tensors and a sample of their bytes.
// Never 0.
uint64_t model_mark(const GgufFile& model);

struct ImportanceMatrix {
  std::map<std::string, ImportanceSums, std::less<>> tensors;  // by the name of the weight
  std::vector<std::string> datasets;                           // texts it was collected on
  uint32_t chunks = 0;                                         // of all texts
  uint32_t chunk_tokens = 0;                                   // 0: not known
  // Of sums over one text, to go on with them; 0: not known. Other programs pass over the two.
  uint64_t model_mark = 0;
  uint64_t token_mark = 0;  // Fnv1a of the tokens of the chunks, as i32

  // Reads either form. Throws Error: bad_input when anything is malformed, not finite or negative.
  static ImportanceMatrix load(const std::filesystem::path& path);

  // Adds what another text gave for the same model; the marks are gone then. Throws
  // Error{bad_input} naming a tensor that has another shape there.
  void add(const ImportanceMatrix& other);

  // Writes the GGUF form. Throws Error as OutputFile does.
  void save(const std::filesystem::path& path) const;
};

// Weights of squared errors for one tensor, [matrices, cols]: mean squares, made safe for encoders.
// The largest is scaled to about 1 by a power of two, so that no product overflows; where 16
// neighbours were never used they get a small equal weight; a matrix that was never used at all
// gets equal weights, and nothing is returned when that holds for all of them.
std::optional<std::vector<float>> column_weights(const ImportanceSums& sums);

}  // namespace arion
