// The key-value part of a GGUF file, read through typed getters.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace arion {

// Value types by their number in the file.
enum class GgufType : uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12
};

std::string_view gguf_type_name(GgufType type);
// Bytes of one value; 0 for strings and arrays.
size_t gguf_type_bytes(GgufType type);

// One key with its undecoded value, both pointing into the file.
struct GgufEntry {
  std::string_view key;
  GgufType type;                       // array, or the type of the single value
  GgufType element;                    // of the array; = type for a single value
  uint64_t count;                      // 1 for a single value
  std::span<const std::byte> payload;  // little endian; strings: u64 length, then the bytes

  bool is_array() const { return type == GgufType::array; }
};

// Text from a file made fit for a message or a terminal: control bytes escaped, long text cut.
std::string printable(std::string_view text, size_t max_bytes = 80);

// Immutable, thread-safe. Holds views into the file it came from, which must outlive it.
// A getter returns nothing when the key is absent and throws Error{bad_input}, naming file and key,
// when the value has another type or does not fit; require_* also throw when it is absent.
class GgufMetadata {
 public:
  GgufMetadata() = default;
  // Throws when a key occurs twice.
  GgufMetadata(std::string file, std::vector<GgufEntry> entries);

  std::span<const GgufEntry> entries() const { return entries_; }  // in file order
  const GgufEntry* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }

  // Any integer type whose value is in range.
  std::optional<uint64_t> get_unsigned(std::string_view key) const;
  std::optional<int64_t> get_integer(std::string_view key) const;
  // f32 or f64, finite.
  std::optional<double> get_float(std::string_view key) const;
  std::optional<bool> get_bool(std::string_view key) const;
  std::optional<std::string_view> get_string(std::string_view key) const;

  // A token id in [0, 2^31). 0xFFFFFFFF and -1 are how writers say "none": absent.
  std::optional<uint32_t> get_token_id(std::string_view key) const;

  // Arrays. At most kMaxDecoded elements, far beyond any vocabulary.
  static constexpr uint64_t kMaxDecoded = 4u << 20;
  std::optional<std::vector<std::string_view>> get_strings(std::string_view key) const;
  std::optional<std::vector<float>> get_floats(std::string_view key) const;
  std::optional<std::vector<int64_t>> get_integers(std::string_view key) const;
  std::optional<std::vector<bool>> get_bools(std::string_view key) const;

  // A per-layer value: one integer for all `count` layers, or an array of exactly `count`, which
  // the caller has checked to be reasonable.
  std::optional<std::vector<uint64_t>> get_unsigned_per_layer(std::string_view key,
                                                              size_t count) const;

  uint64_t require_unsigned(std::string_view key) const;
  std::string_view require_string(std::string_view key) const;
  std::vector<std::string_view> require_strings(std::string_view key) const;

 private:
  const GgufEntry* find_single(std::string_view key, std::string_view expected) const;
  const GgufEntry* find_array(std::string_view key, std::string_view expected) const;
  [[noreturn]] void wrong_type(const GgufEntry& entry, std::string_view expected) const;
  [[noreturn]] void missing(std::string_view key) const;

  std::string file_;
  std::vector<GgufEntry> entries_;
  std::vector<uint32_t> by_key_;  // indices into entries_, sorted by key
};

// Type and value as `inspect` shows them: "u32", "string[32000]"; "4096", "[<unk>, <s>, ...]".
std::string describe_type(const GgufEntry& entry);
std::string describe_value(const GgufEntry& entry, size_t max_bytes = 80);

}  // namespace arion
