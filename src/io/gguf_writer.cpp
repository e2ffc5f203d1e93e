// Encoding of GGUF files; the layout mirrors gguf_header.cpp.
#include "io/gguf_writer.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "io/ggml_types.h"

namespace arion {
namespace {

template <typename T>
void put(std::string& out, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void put_string(std::string& out, std::string_view text) {
  put<uint64_t>(out, text.size());
  out += text;
}

template <typename T>
void put_all(std::string& out, std::span<const T> values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

uint64_t padding(uint64_t bytes) {
  return (GgufWriter::kAlignment - bytes % GgufWriter::kAlignment) % GgufWriter::kAlignment;
}

}  // namespace

void GgufWriter::begin_entry(std::string_view key, GgufType type) {
  ++entry_count_;
  put_string(entries_, key);
  put(entries_, static_cast<uint32_t>(type));
}

void GgufWriter::begin_array(std::string_view key, GgufType element, uint64_t count) {
  begin_entry(key, GgufType::array);
  put(entries_, static_cast<uint32_t>(element));
  put(entries_, count);
}

void GgufWriter::add_u32(std::string_view key, uint32_t value) {
  begin_entry(key, GgufType::u32);
  put(entries_, value);
}

void GgufWriter::add_u64(std::string_view key, uint64_t value) {
  begin_entry(key, GgufType::u64);
  put(entries_, value);
}

void GgufWriter::add_i32(std::string_view key, int32_t value) {
  begin_entry(key, GgufType::i32);
  put(entries_, value);
}

void GgufWriter::add_u16(std::string_view key, uint16_t value) {
  begin_entry(key, GgufType::u16);
  put(entries_, value);
}

void GgufWriter::add_f32(std::string_view key, float value) {
  begin_entry(key, GgufType::f32);
  put(entries_, value);
}

void GgufWriter::add_bool(std::string_view key, bool value) {
  begin_entry(key, GgufType::boolean);
  put<uint8_t>(entries_, value ? 1 : 0);
}

void GgufWriter::add_string(std::string_view key, std::string_view value) {
  begin_entry(key, GgufType::string);
  put_string(entries_, value);
}

void GgufWriter::add_strings(std::string_view key, std::span<const std::string> values) {
  begin_array(key, GgufType::string, values.size());
  for (const std::string& value : values) put_string(entries_, value);
}

void GgufWriter::add_bools(std::string_view key, const std::vector<bool>& values) {
  begin_array(key, GgufType::boolean, values.size());
  for (const bool value : values) put<uint8_t>(entries_, value ? 1 : 0);
}

void GgufWriter::add_f32s(std::string_view key, std::span<const float> values) {
  begin_array(key, GgufType::f32, values.size());
  put_all(entries_, values);
}

void GgufWriter::add_i32s(std::string_view key, std::span<const int32_t> values) {
  begin_array(key, GgufType::i32, values.size());
  put_all(entries_, values);
}

void GgufWriter::add_u32s(std::string_view key, std::span<const uint32_t> values) {
  begin_array(key, GgufType::u32, values.size());
  put_all(entries_, values);
}

void GgufWriter::add_entry(const GgufEntry& entry) {
  if (entry.is_array()) {
    begin_array(entry.key, entry.element, entry.count);
  } else {
    begin_entry(entry.key, entry.type);
  }
  put_all(entries_, entry.payload);
}

void GgufWriter::add_tensor(std::string_view name, std::span<const uint64_t> dims, uint32_t type,
                            Producer data) {
  const GgmlType* known = find_ggml_type(type);
  CHECK(known != nullptr && known->status == GgmlTypeStatus::standard);
  CHECK(!dims.empty() && dims.size() <= 4 && dims[0] % known->block_values == 0);
  put_string(tensor_infos_, name);
  put(tensor_infos_, static_cast<uint32_t>(dims.size()));
  uint64_t values = 1;
  for (const uint64_t ne : dims) {
    put(tensor_infos_, ne);
    values *= ne;
  }
  const uint64_t bytes = values / known->block_values * known->block_bytes;
  put(tensor_infos_, type);
  put(tensor_infos_, data_bytes_);
  data_bytes_ += bytes + padding(bytes);
  tensors_.push_back({bytes, std::move(data)});
}

void GgufWriter::add_tensor(std::string_view name, std::span<const uint64_t> dims, uint32_t type,
                            std::vector<std::byte> data) {
  add_tensor(name, dims, type, [data = std::move(data)] { return data; });
}

std::string GgufWriter::header() const {
  std::string out = "GGUF";
  put<uint32_t>(out, 3);
  put<uint64_t>(out, tensors_.size());
  put<uint64_t>(out, entry_count_);
  out += entries_;
  out += tensor_infos_;
  out.append(padding(out.size()), '\0');
  return out;
}

void GgufWriter::produce(const std::function<void(std::span<const std::byte>)>& sink) const {
  const std::string head = header();
  sink(std::as_bytes(std::span(head)));
  for (const Tensor& tensor : tensors_) {
    const std::vector<std::byte> data = tensor.data();
    CHECK(data.size() == tensor.bytes);
    sink(data);
    constexpr std::byte kZeros[kAlignment] = {};
    sink(std::span(kZeros).first(padding(data.size())));
  }
}

std::string GgufWriter::bytes() const {
  std::string out;
  produce([&](std::span<const std::byte> part) { put_all(out, part); });
  return out;
}

void GgufWriter::write(OutputFile& out) const {
  produce([&](std::span<const std::byte> part) { out.write(part); });
}

void GgufWriter::write(const std::filesystem::path& path) const {
  OutputFile out(path);
  write(out);
  out.commit();
}

}  // namespace arion
