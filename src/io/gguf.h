// A GGUF model: one file or a split set, mapped, checked, and read in place.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "io/gguf_header.h"
#include "io/gguf_metadata.h"

namespace arion {

class WeightFormat;

// Immutable after opening and thread-safe. Metadata, names and tensor data are views into the
// mapped files; they stay valid when the object is moved and end with it.
class GgufFile {
 public:
  // `path` is a model file or the first file (-00001-of-0000N) of a split model, whose other files
  // are then opened too. Throws Error: usage when there is no such file, bad_input when anything
  // in it is malformed.
  static GgufFile open(const std::filesystem::path& path);

  // A model from another container, told in GGUF's terms.
  struct Parts {
    std::vector<std::byte> metadata;      // a GGUF file without tensors
    std::vector<GgufTensor> tensors;      // pointing into what follows; not yet indexed
    std::vector<std::string> file_names;  // of `mappings`; for messages
    std::vector<MappedFile> mappings;
    std::deque<std::string> tensor_names;       // that the tensors point to
    std::deque<std::vector<std::byte>> values;  // tensors made while reading
  };
  // Throws Error{bad_input} when a tensor name occurs twice.
  static GgufFile assemble(Parts parts);

  // One file already in memory, which must outlive the object. `name` is for messages.
  static GgufFile parse(std::span<const std::byte> bytes, std::string name = "memory");

  uint32_t version() const { return version_; }
  const GgufMetadata& metadata() const { return metadata_; }  // of the first file

  std::span<const GgufTensor> tensors() const { return tensors_; }  // in file order
  const GgufTensor* find_tensor(std::string_view name) const;
  // Throws when there is no such tensor.
  const GgufTensor& require_tensor(std::string_view name) const;

  // Throws, naming tensor and type, when this build has no code for the type.
  const WeightFormat& weight_format(const GgufTensor& tensor) const;

  // Tells the system that the bytes of the tensor are not needed any more, or soon.
  void drop(const GgufTensor& tensor) const;
  void prefetch(const GgufTensor& tensor) const;

  // The files of the model, as opened; several for a split model.
  std::span<const std::string> file_names() const { return names_; }
  // The same files in memory; none when parsed from memory.
  std::span<const MappedFile> mappings() const { return mappings_; }
  // What was made while an assembled model was read.
  std::span<const std::byte> made_metadata() const { return made_metadata_; }
  const std::deque<std::vector<std::byte>>& made_values() const { return made_values_; }

 private:
  GgufFile() = default;
  void add(GgufHeader header);
  void open_rest_of_split(const std::filesystem::path& first);
  void open_split(const std::filesystem::path& path, uint64_t number);
  void index_tensors();
  // The range of a tensor in its mapping; empty for one that lies elsewhere.
  std::optional<std::pair<const MappedFile*, size_t>> locate(const GgufTensor& tensor) const;

  uint32_t version_ = 0;
  GgufMetadata metadata_;
  std::vector<std::string> names_;
  std::vector<MappedFile> mappings_;      // empty when parsed from memory
  std::vector<std::byte> made_metadata_;  // of an assembled model, as the next two
  std::deque<std::string> made_names_;
  std::deque<std::vector<std::byte>> made_values_;
  std::vector<GgufTensor> tensors_;
  std::vector<uint32_t> by_name_;  // indices into tensors_, sorted by name
};

}  // namespace arion
