// Writes GGUF v3 files: metadata, then tensors one after the other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/output_file.h"
#include "io/gguf_metadata.h"

namespace arion {

// Collects a file and writes it at the end. Not thread-safe. Keys and names are not checked for
// duplicates: what it writes is meant to be read back by GgufFile.
class GgufWriter {
 public:
  static constexpr uint64_t kAlignment = 32;  // the default of the format: no key needed

  // Makes the bytes of one tensor when its turn comes, so that a big model is never whole in
  // memory.
  using Producer = std::function<std::vector<std::byte>()>;

  void add_u32(std::string_view key, uint32_t value);
  void add_u64(std::string_view key, uint64_t value);
  void add_i32(std::string_view key, int32_t value);
  void add_u16(std::string_view key, uint16_t value);
  void add_f32(std::string_view key, float value);
  void add_bool(std::string_view key, bool value);
  void add_string(std::string_view key, std::string_view value);
  void add_strings(std::string_view key, std::span<const std::string> values);
  void add_f32s(std::string_view key, std::span<const float> values);
  void add_i32s(std::string_view key, std::span<const int32_t> values);
  void add_u32s(std::string_view key, std::span<const uint32_t> values);
  void add_bools(std::string_view key, const std::vector<bool>& values);
  // Copies an entry of another file.
  void add_entry(const GgufEntry& entry);

  // `dims` in ggml order: columns first. The byte size follows from dims and type, which must be a
  // standard one.
  void add_tensor(std::string_view name, std::span<const uint64_t> dims, uint32_t type,
                  Producer data);
  void add_tensor(std::string_view name, std::span<const uint64_t> dims, uint32_t type,
                  std::vector<std::byte> data);

  // The whole file in memory, for small models.
  std::string bytes() const;

  // Writes the whole file; the second form also commits it. Throw Error as OutputFile does.
  void write(OutputFile& out) const;
  void write(const std::filesystem::path& path) const;

 private:
  struct Tensor {
    uint64_t bytes;
    Producer data;
  };

  void begin_entry(std::string_view key, GgufType type);
  void begin_array(std::string_view key, GgufType element, uint64_t count);
  std::string header() const;
  void produce(const std::function<void(std::span<const std::byte>)>& sink) const;

  uint64_t entry_count_ = 0;
  std::string entries_;       // encoded metadata
  std::string tensor_infos_;  // encoded tensor list
  uint64_t data_bytes_ = 0;   // padded
  std::vector<Tensor> tensors_;
};

}  // namespace arion
