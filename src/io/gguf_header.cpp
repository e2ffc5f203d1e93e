// The strict GGUF header parser. Layout: github.com/ggml-org/ggml/blob/master/docs/gguf.md.
#include "io/gguf_header.h"

#include <fmt/ranges.h>

#include <bit>
#include <optional>

#include "base/error.h"
#include "io/ggml_types.h"
#include "io/gguf_value.h"

namespace arion {
namespace {

// Smallest encodings; they bound the counts by the bytes that are left before anything is reserved.
constexpr uint64_t kMinEntryBytes = 8 + 1 + 4 + 1;           // key, type, one byte of value
constexpr uint64_t kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;  // name, count, one dim, type, offset

std::optional<uint64_t> checked_multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

std::optional<uint64_t> checked_align(uint64_t value, uint64_t alignment) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(value, alignment - 1, &sum)) return std::nullopt;
  return sum & ~(alignment - 1);
}

// Reads forward through the file; never past its end.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  uint64_t position() const { return position_; }
  uint64_t left() const { return bytes_.size() - position_; }

  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorCode::bad_input, "{}: at byte {}: {}", file_, position_,
         fmt::format(format, std::forward<Args>(args)...));
  }

  std::span<const std::byte> take(uint64_t count, std::string_view what) {
    if (count > left()) {
      refuse("the file ends within {} ({} bytes needed, {} left); it may be truncated", what, count,
             left());
    }
    const auto taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
  }

  template <typename T>
  T read(std::string_view what) {
    return load_value<T>(take(sizeof(T), what).data());
  }

  std::string_view read_string(uint64_t max_bytes, std::string_view what) {
    const auto length = read<uint64_t>(what);
    if (length > max_bytes) refuse("{} has {} bytes, at most {} allowed", what, length, max_bytes);
    const auto bytes = take(length, what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
  uint64_t position_ = 0;
};

class HeaderParser {
 public:
  HeaderParser(std::span<const std::byte> bytes, const std::string& file)
      : bytes_(bytes), file_(file), cursor_(bytes, file) {}

  GgufHeader parse() {
    read_version();
    const uint64_t tensor_count = read_count("tensors", GgufLimits::kTensors, kMinTensorBytes);
    const uint64_t entry_count =
        read_count("metadata entries", GgufLimits::kEntries, kMinEntryBytes);
    std::vector<GgufEntry> entries;
    entries.reserve(entry_count);
    for (uint64_t i = 0; i < entry_count; ++i) entries.push_back(read_entry());
    header_.metadata = GgufMetadata(file_, std::move(entries));
    header_.alignment = alignment();
    header_.tensors.reserve(tensor_count);
    for (uint64_t i = 0; i < tensor_count; ++i) header_.tensors.push_back(read_tensor());
    locate_data();
    return std::move(header_);
  }

 private:
  void read_version() {
    const auto magic = cursor_.take(4, "the magic");
    if (load_string_bytes(magic) != "GGUF") {
      fail(ErrorCode::bad_input, "{}: not a GGUF file: it starts with '{}', expected 'GGUF'", file_,
           printable(load_string_bytes(magic)));
    }
    const auto version = cursor_.read<uint32_t>("the version");
    if (version != 0 && (version & 0xFFFFu) == 0) {
      cursor_.refuse(
          "the file has big-endian byte order (version {:#010x}); convert it to little-endian, for "
          "example with gguf-convert-endian",
          version);
    }
    if (version != 2 && version != 3) {
      cursor_.refuse("GGUF version {}, expected 2 or 3; convert the model again", version);
    }
    header_.version = version;
  }

  static std::string_view load_string_bytes(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  uint64_t read_count(std::string_view what, uint64_t limit, uint64_t min_bytes_each) {
    const auto count = cursor_.read<uint64_t>("the counts");
    if (count > limit) cursor_.refuse("{} {} announced, at most {} allowed", count, what, limit);
    if (count > cursor_.left() / min_bytes_each) {
      cursor_.refuse("{} {} announced, but only {} bytes follow; the file may be truncated", count,
                     what, cursor_.left());
    }
    return count;
  }

  GgufType read_type(std::string_view key) {
    const auto type = cursor_.read<uint32_t>("a value type");
    if (type > static_cast<uint32_t>(GgufType::f64)) {
      cursor_.refuse("metadata key '{}' has unknown value type {}", printable(key), type);
    }
    return static_cast<GgufType>(type);
  }

  GgufEntry read_entry() {
    GgufEntry entry{};
    entry.key = cursor_.read_string(GgufLimits::kKeyBytes, "a metadata key");
    if (entry.key.empty()) cursor_.refuse("a metadata key is empty");
    entry.type = entry.element = read_type(entry.key);
    entry.count = 1;
    if (entry.type == GgufType::array) {
      entry.element = read_type(entry.key);
      entry.count = cursor_.read<uint64_t>("an array length");
      if (entry.element == GgufType::array) {
        cursor_.refuse("metadata key '{}' is an array of arrays, which is not supported",
                       printable(entry.key));
      }
      if (entry.count > GgufLimits::kArrayValues) {
        cursor_.refuse("metadata key '{}' has {} elements, at most {} allowed",
                       printable(entry.key), entry.count, GgufLimits::kArrayValues);
      }
    }
    const uint64_t begin = cursor_.position();
    if (entry.element == GgufType::string) {
      for (uint64_t i = 0; i < entry.count; ++i) {
        cursor_.read_string(GgufLimits::kStringBytes, "a string value");
      }
    } else {
      cursor_.take(entry.count * gguf_type_bytes(entry.element), "a metadata value");
    }
    entry.payload = bytes_.subspan(begin, cursor_.position() - begin);
    return entry;
  }

  uint64_t alignment() const {
    constexpr std::string_view kKey = "general.alignment";
    const GgufEntry* entry = header_.metadata.find(kKey);
    if (entry == nullptr) return 32;
    const bool is_u32 = entry->type == GgufType::u32;
    const uint64_t value = is_u32 ? load_value<uint32_t>(entry->payload.data()) : 0;
    if (!std::has_single_bit(value) || value < GgufLimits::kMinAlignment ||
        value > GgufLimits::kMaxAlignment) {
      fail(ErrorCode::bad_input, "{}: {} is {} {}, expected an u32 power of two in [{}, {}]", file_,
           kKey, describe_type(*entry), describe_value(*entry), GgufLimits::kMinAlignment,
           GgufLimits::kMaxAlignment);
    }
    return value;
  }

  // The tensor, with `data` sized but not yet placed: the blob begins only after the last header.
  GgufTensor read_tensor() {
    GgufTensor tensor{};
    tensor.name = cursor_.read_string(GgufLimits::kNameBytes, "a tensor name");
    if (tensor.name.empty()) cursor_.refuse("a tensor name is empty");
    const auto dim_count = cursor_.read<uint32_t>("a number of dimensions");
    if (dim_count < 1 || dim_count > tensor.ne.size()) {
      refuse(tensor, "it has {} dimensions, expected 1 to {}", dim_count, tensor.ne.size());
    }
    tensor.dim_count = static_cast<uint8_t>(dim_count);
    tensor.ne.fill(1);
    for (uint64_t& ne : std::span(tensor.ne).first(dim_count)) {
      ne = cursor_.read<uint64_t>("a dimension");
    }
    tensor.type = cursor_.read<uint32_t>("a tensor type");
    const auto offset = cursor_.read<uint64_t>("a tensor offset");
    place(tensor, offset);
    return tensor;
  }

  void place(GgufTensor& tensor, uint64_t offset) {
    const uint64_t bytes = tensor_bytes(tensor);
    if (offset != data_bytes_) {
      refuse(tensor,
             "its offset is {}, expected {} (tensors follow each other, padded to {} bytes)",
             offset, data_bytes_, header_.alignment);
    }
    // Sizes are below the file size, so the sum cannot wrap, but padding is checked all the same.
    const auto end = checked_align(data_bytes_ + bytes, header_.alignment);
    if (!end) refuse(tensor, "its end overflows");
    tensor.data = bytes_.first(bytes);  // the size; locate_data() knows the place
    data_bytes_ = *end;
  }

  uint64_t tensor_bytes(const GgufTensor& tensor) const {
    const GgmlType* type = find_ggml_type(tensor.type);
    if (type == nullptr) refuse(tensor, "its type {} is unknown", tensor.type);
    if (type->status == GgmlTypeStatus::removed) {
      refuse(tensor,
             "its type {} ({}) was removed from the format; quantise the original model again",
             tensor.type, type->name);
    }
    if (type->status == GgmlTypeStatus::fork_only) {
      refuse(tensor, "its type {} ({}) exists only in the ik_llama.cpp fork and is not supported",
             tensor.type, type->name);
    }
    std::optional<uint64_t> values = 1;
    for (const uint64_t ne : tensor.dims()) {
      if (ne == 0) refuse(tensor, "its shape {} has a zero", describe_dims(tensor.dims()));
      values = values ? checked_multiply(*values, ne) : values;
    }
    if (!values || *values > INT64_MAX) {
      refuse(tensor, "its shape {} overflows", describe_dims(tensor.dims()));
    }
    if (tensor.cols() % type->block_values != 0) {
      refuse(tensor, "its rows have {} values, not a multiple of the {} of a {} block",
             tensor.cols(), type->block_values, type->name);
    }
    const auto bytes = checked_multiply(*values / type->block_values, type->block_bytes);
    if (!bytes || *bytes > bytes_.size() || data_bytes_ > bytes_.size()) {
      refuse(tensor,
             "its shape {} as {} does not fit into the {} bytes of the file; it may be truncated",
             describe_dims(tensor.dims()), type->name, bytes_.size());
    }
    return *bytes;
  }

  // Places the blob behind the header and gives every tensor its bytes.
  void locate_data() {
    if (header_.tensors.empty()) {
      header_.data_offset = bytes_.size();
      return;
    }
    const auto begin = checked_align(cursor_.position(), header_.alignment);
    uint64_t at = begin.value_or(UINT64_MAX);
    header_.data_offset = at;
    for (GgufTensor& tensor : header_.tensors) {
      const uint64_t bytes = tensor.data.size();
      if (at > bytes_.size() || bytes > bytes_.size() - at) {
        refuse(tensor, "its {} bytes at {} end after the {} bytes of the file; it is truncated",
               bytes, at, bytes_.size());
      }
      tensor.data = bytes_.subspan(at, bytes);
      at = *checked_align(at + bytes, header_.alignment);
    }
  }

  template <typename... Args>
  [[noreturn]] void refuse(const GgufTensor& tensor, fmt::format_string<Args...> format,
                           Args&&... args) const {
    fail(ErrorCode::bad_input, "{}: tensor {}: {}", file_, printable(tensor.name),
         fmt::format(format, std::forward<Args>(args)...));
  }

  std::span<const std::byte> bytes_;
  const std::string& file_;
  Cursor cursor_;
  GgufHeader header_;
  uint64_t data_bytes_ = 0;  // padded bytes of the tensors so far
};

}  // namespace

std::string describe_dims(std::span<const uint64_t> dims) {
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

GgufHeader parse_gguf_header(std::span<const std::byte> file, const std::string& name) {
  return HeaderParser(file, name).parse();
}

}  // namespace arion
