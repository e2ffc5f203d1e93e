// Typed access to GGUF metadata: element type, count and range are checked before any use.
#include "io/gguf_metadata.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "io/gguf_value.h"

namespace arion {
namespace {

// How writers spell "no such token" in the unsigned type of the key.
constexpr uint32_t kNoToken = 0xFFFFFFFFu;

}  // namespace

GgufMetadata::GgufMetadata(std::string file, std::vector<GgufEntry> entries)
    : file_(std::move(file)), entries_(std::move(entries)), by_key_(entries_.size()) {
  // Sorted indices rather than a hash table: hostile keys cannot make it slow.
  const auto key_of = [this](uint32_t i) { return entries_[i].key; };
  std::iota(by_key_.begin(), by_key_.end(), 0u);
  std::ranges::sort(by_key_, {}, key_of);
  const auto twice = std::ranges::adjacent_find(by_key_, {}, key_of);
  if (twice != by_key_.end()) {
    fail(ErrorCode::bad_input, "{}: metadata key '{}' occurs twice", file_,
         printable(key_of(*twice)));
  }
}

const GgufEntry* GgufMetadata::find(std::string_view key) const {
  const auto key_of = [this](uint32_t i) { return entries_[i].key; };
  const auto it = std::ranges::lower_bound(by_key_, key, {}, key_of);
  return it != by_key_.end() && key_of(*it) == key ? &entries_[*it] : nullptr;
}

void GgufMetadata::wrong_type(const GgufEntry& entry, std::string_view expected) const {
  fail(ErrorCode::bad_input, "{}: metadata key '{}' has type {}, value {}, expected {}", file_,
       printable(entry.key), describe_type(entry), describe_value(entry), expected);
}

void GgufMetadata::missing(std::string_view key) const {
  fail(ErrorCode::bad_input, "{}: metadata key '{}' is missing", file_, key);
}

const GgufEntry* GgufMetadata::find_single(std::string_view key, std::string_view expected) const {
  const GgufEntry* entry = find(key);
  if (entry != nullptr && entry->is_array()) wrong_type(*entry, expected);
  return entry;
}

const GgufEntry* GgufMetadata::find_array(std::string_view key, std::string_view expected) const {
  const GgufEntry* entry = find(key);
  if (entry == nullptr) return nullptr;
  if (!entry->is_array()) wrong_type(*entry, expected);
  if (entry->count > kMaxDecoded) {
    fail(ErrorCode::bad_input, "{}: metadata key '{}' has {} elements, at most {} are supported",
         file_, printable(key), entry->count, kMaxDecoded);
  }
  return entry;
}

std::optional<uint64_t> GgufMetadata::get_unsigned(std::string_view key) const {
  constexpr std::string_view kExpected = "a non-negative integer";
  const GgufEntry* entry = find_single(key, kExpected);
  if (entry == nullptr) return std::nullopt;
  if (entry->type == GgufType::u64) return load_value<uint64_t>(entry->payload.data());
  const std::optional<int64_t> value = load_integer(entry->type, entry->payload.data());
  if (!value || *value < 0) wrong_type(*entry, kExpected);
  return static_cast<uint64_t>(*value);
}

std::optional<int64_t> GgufMetadata::get_integer(std::string_view key) const {
  constexpr std::string_view kExpected = "an integer below 2^63";
  const GgufEntry* entry = find_single(key, kExpected);
  if (entry == nullptr) return std::nullopt;
  const std::optional<int64_t> value = load_integer(entry->type, entry->payload.data());
  if (!value) wrong_type(*entry, kExpected);
  return value;
}

std::optional<double> GgufMetadata::get_float(std::string_view key) const {
  constexpr std::string_view kExpected = "a finite floating-point number";
  const GgufEntry* entry = find_single(key, kExpected);
  if (entry == nullptr) return std::nullopt;
  const std::optional<double> value = load_float(entry->type, entry->payload.data());
  if (!value || !std::isfinite(*value)) wrong_type(*entry, kExpected);
  return value;
}

std::optional<bool> GgufMetadata::get_bool(std::string_view key) const {
  constexpr std::string_view kExpected = "a boolean, 0 or 1";
  const GgufEntry* entry = find_single(key, kExpected);
  if (entry == nullptr) return std::nullopt;
  const auto value = load_value<uint8_t>(entry->payload.data());
  if (entry->type != GgufType::boolean || value > 1) wrong_type(*entry, kExpected);
  return value == 1;
}

std::optional<std::string_view> GgufMetadata::get_string(std::string_view key) const {
  const GgufEntry* entry = find_single(key, "a string");
  if (entry == nullptr) return std::nullopt;
  if (entry->type != GgufType::string) wrong_type(*entry, "a string");
  return load_string(entry->payload);
}

std::optional<uint32_t> GgufMetadata::get_token_id(std::string_view key) const {
  constexpr std::string_view kExpected = "a token id below 2^31";
  const std::optional<int64_t> value = get_integer(key);
  if (!value || *value == -1 || *value == kNoToken) return std::nullopt;
  if (*value < 0 || *value > INT32_MAX) wrong_type(*find(key), kExpected);
  return static_cast<uint32_t>(*value);
}

std::optional<std::vector<std::string_view>> GgufMetadata::get_strings(std::string_view key) const {
  const GgufEntry* entry = find_array(key, "an array of strings");
  if (entry == nullptr) return std::nullopt;
  if (entry->element != GgufType::string) wrong_type(*entry, "an array of strings");
  std::vector<std::string_view> values;
  values.reserve(entry->count);
  std::span<const std::byte> rest = entry->payload;
  for (uint64_t i = 0; i < entry->count; ++i) {
    values.push_back(load_string(rest));
    rest = rest.subspan(sizeof(uint64_t) + values.back().size());
  }
  return values;
}

std::optional<std::vector<float>> GgufMetadata::get_floats(std::string_view key) const {
  constexpr std::string_view kExpected = "an array of floating-point numbers";
  const GgufEntry* entry = find_array(key, kExpected);
  if (entry == nullptr) return std::nullopt;
  if (entry->element != GgufType::f32 && entry->element != GgufType::f64) {
    wrong_type(*entry, kExpected);
  }
  std::vector<float> values(entry->count);
  const size_t step = gguf_type_bytes(entry->element);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] =
        static_cast<float>(load_float(entry->element, entry->payload.data() + i * step).value());
  }
  return values;
}

std::optional<std::vector<int64_t>> GgufMetadata::get_integers(std::string_view key) const {
  constexpr std::string_view kExpected = "an array of integers below 2^63";
  const GgufEntry* entry = find_array(key, kExpected);
  if (entry == nullptr) return std::nullopt;
  std::vector<int64_t> values(entry->count);
  const size_t step = gguf_type_bytes(entry->element);
  if (step == 0) wrong_type(*entry, kExpected);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = load_integer(entry->element, entry->payload.data() + i * step);
    if (!value) wrong_type(*entry, kExpected);
    values[i] = *value;
  }
  return values;
}

std::optional<std::vector<bool>> GgufMetadata::get_bools(std::string_view key) const {
  constexpr std::string_view kExpected = "an array of booleans, 0 or 1";
  const GgufEntry* entry = find_array(key, kExpected);
  if (entry == nullptr) return std::nullopt;
  if (entry->element != GgufType::boolean) wrong_type(*entry, kExpected);
  std::vector<bool> values(entry->count);
  for (size_t i = 0; i < values.size(); ++i) {
    if (entry->payload[i] > std::byte{1}) wrong_type(*entry, kExpected);
    values[i] = entry->payload[i] == std::byte{1};
  }
  return values;
}

std::optional<std::vector<uint64_t>> GgufMetadata::get_unsigned_per_layer(std::string_view key,
                                                                          size_t count) const {
  const GgufEntry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  if (!entry->is_array()) return std::vector<uint64_t>(count, *get_unsigned(key));
  const std::vector<int64_t> values = *get_integers(key);
  if (values.size() != count || std::ranges::any_of(values, [](int64_t v) { return v < 0; })) {
    wrong_type(*entry, fmt::format("a non-negative integer or an array of {} of them", count));
  }
  return std::vector<uint64_t>(values.begin(), values.end());
}

uint64_t GgufMetadata::require_unsigned(std::string_view key) const {
  const auto value = get_unsigned(key);
  return value ? *value : (missing(key), 0);
}

std::string_view GgufMetadata::require_string(std::string_view key) const {
  const auto value = get_string(key);
  return value ? *value : (missing(key), std::string_view{});
}

std::vector<std::string_view> GgufMetadata::require_strings(std::string_view key) const {
  auto value = get_strings(key);
  if (!value) missing(key);
  return std::move(*value);
}

}  // namespace arion
