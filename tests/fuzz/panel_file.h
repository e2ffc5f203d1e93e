// What the fuzzer of compiled models does with one input: parse it, with the hash of its table as
// it is and then as it should be, and look whether all that is accepted lies in the file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/bulk_hash.h"
#include "base/check.h"
#include "base/error.h"
#include "io/panel_file.h"

namespace arion::test {

// Makes the hash at the end of a file that of its table, wherever the header says this begins.
inline void repair_table_hash(std::vector<std::byte>& file) {
  constexpr size_t kPlace = 32;  // of the offset of the table, see panel_file.h
  uint64_t table = 0, hash = 0;
  if (file.size() < kPanelFileHeaderBytes + sizeof hash) return;
  std::memcpy(&table, file.data() + kPlace, sizeof table);
  const size_t end = file.size() - sizeof hash;
  if (table > end) return;
  hash = bulk_hash(std::span(file).subspan(table, end - table));
  std::memcpy(file.data() + end, &hash, sizeof hash);
}

inline void parse_and_check(std::span<const std::byte> bytes) {
  try {
    const PanelFile file = parse_panel_file(bytes, "fuzz");
    CHECK(file.table_offset() <= bytes.size());
    CHECK(file.source.files.size() == file.source_hashes.size());
    CHECK(file.tensors.size() == file.tensor_hashes.size());
    uint64_t end = 0;
    for (const PackedTensor& tensor : file.tensors) {
      CHECK(tensor.offset >= end && tensor.offset % kPanelFileAlignment == 0);
      CHECK(tensor.rows > 0 && tensor.cols > 0 && !codec_name(tensor.spec.codec).empty());
      end = tensor.offset + tensor.bytes;
      CHECK(end >= tensor.offset && end <= file.data_bytes);
    }
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
  }
}

inline void fuzz_panel_file(std::span<const std::byte> bytes) {
  parse_and_check(bytes);
  std::vector<std::byte> repaired(bytes.begin(), bytes.end());
  repair_table_hash(repaired);
  parse_and_check(repaired);
}

}  // namespace arion::test
