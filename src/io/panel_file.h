// Files of packed weights: panels as they lie in memory, and of what they were made.
//
//   header   64 bytes, little-endian: magic, u32 version of the file, u32 kPanelLayoutVersion,
//            u64 offset and bytes of the weights, u64 offset of the table, zeros
//   weights  64-byte aligned, as PackedWeights (src/graph/packed_weights.h) holds them
//   table    to the end of the file: source files, weights, hash of the table
//
// The weights begin on a huge page of the file and are written in such, so that systems that keep
// large pages of files map them like anonymous memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/source_key.h"
#include "quant/panel.h"

namespace arion {

inline constexpr size_t kPanelFileHeaderBytes = 64, kPanelFileAlignment = 64;
inline constexpr size_t kPanelFileDataOffset = size_t{2} << 20;

struct PackedTensor {
  std::string name;
  uint32_t gguf_type = 0;  // of the source
  PanelSpec spec;          // of a matrix
  bool is_matrix = false;  // panels; else floats
  int rows = 0, cols = 0;
  uint64_t offset = 0, bytes = 0;  // within the weights
  bool operator==(const PackedTensor&) const = default;
};

// What a file says of itself.
struct PanelFile {
  uint64_t data_offset = kPanelFileDataOffset, data_bytes = 0;
  SourceKey source;
  std::vector<PackedTensor> tensors;
  // Of all their bytes, parallel to source.files and tensors; for --verify.
  std::vector<uint64_t> source_hashes, tensor_hashes;

  uint64_t table_offset() const { return data_offset + data_bytes; }
};

// Reads header and table of a whole file in memory; the weights are not touched, but lie where the
// table says and do not overlap. `name` is for messages. Throws Error{bad_input}, also when the
// file is of another version.
PanelFile parse_panel_file(std::span<const std::byte> bytes, const std::string& name);

// The bytes before the weights, without the zeros up to data_offset, and those behind.
std::vector<std::byte> panel_file_header(const PanelFile& file);
std::vector<std::byte> panel_file_table(const PanelFile& file);

}  // namespace arion
