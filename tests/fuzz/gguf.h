// What the GGUF fuzzer does with one input: parse it, then read everything through every getter.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "base/error.h"
#include "io/gguf.h"

namespace arion::test {

// Runs a getter; a refusal is a fine answer, a crash or any other exception is not.
template <typename Getter>
void try_get(Getter getter) {
  try {
    getter();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    CHECK(error.what()[0] != '\0');
  }
}

inline void read_everything(const GgufMetadata& metadata) {
  for (const GgufEntry& entry : metadata.entries()) {
    CHECK(metadata.find(entry.key) == &entry);
    CHECK(!describe_type(entry).empty());
    CHECK(describe_value(entry).size() < 1'000);
    try_get([&] { metadata.get_unsigned(entry.key); });
    try_get([&] { metadata.get_integer(entry.key); });
    try_get([&] { metadata.get_float(entry.key); });
    try_get([&] { metadata.get_bool(entry.key); });
    try_get([&] { metadata.get_string(entry.key); });
    try_get([&] { metadata.get_token_id(entry.key); });
    try_get([&] { metadata.get_strings(entry.key); });
    try_get([&] { metadata.get_floats(entry.key); });
    try_get([&] { metadata.get_integers(entry.key); });
    try_get([&] { metadata.get_bools(entry.key); });
    try_get([&] { metadata.get_unsigned_per_layer(entry.key, 4); });
  }
}

inline void read_everything(const GgufFile& file, std::span<const std::byte> bytes) {
  for (const GgufTensor& tensor : file.tensors()) {
    CHECK(file.find_tensor(tensor.name) == &tensor);
    CHECK(!tensor.data.empty() && tensor.data.data() >= bytes.data());
    CHECK(&tensor.data.back() <= &bytes.back());
    try_get([&] { file.weight_format(tensor); });
  }
}

inline void fuzz_gguf(std::span<const std::byte> bytes) {
  try_get([&] {
    const GgufFile file = GgufFile::parse(bytes);
    read_everything(file.metadata());
    read_everything(file, bytes);
  });
}

}  // namespace arion::test
