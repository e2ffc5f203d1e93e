// Opening of single and split GGUF models, and lookup of their tensors.
#include "io/gguf.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "io/ggml_types.h"
#include "io/split_name.h"
#include "quant/weight_format.h"

namespace arion {
namespace {

// Refuses a split.* key of a later file that contradicts the first one.
void expect_key(const GgufMetadata& metadata, const std::string& file, std::string_view key,
                uint64_t expected) {
  const auto value = metadata.get_unsigned(key);
  if (value && *value != expected) {
    fail(ErrorCode::bad_input, "{}: {} is {}, expected {}; the file is from another model or set",
         file, key, *value, expected);
  }
}

}  // namespace

GgufFile GgufFile::parse(std::span<const std::byte> bytes, std::string name) {
  GgufFile file;
  file.names_.push_back(std::move(name));
  GgufHeader header = parse_gguf_header(bytes, file.names_[0]);
  file.version_ = header.version;
  file.metadata_ = std::move(header.metadata);
  file.add(std::move(header));
  file.index_tensors();
  return file;
}

GgufFile GgufFile::open(const std::filesystem::path& path) {
  MappedFile mapping(path);
  GgufFile file = parse(mapping.bytes(), path.string());
  file.mappings_.push_back(std::move(mapping));
  file.open_rest_of_split(path);
  return file;
}

GgufFile GgufFile::assemble(Parts parts) {
  GgufFile file;
  file.made_metadata_ = std::move(parts.metadata);
  GgufHeader header = parse_gguf_header(file.made_metadata_, parts.file_names.at(0));
  file.version_ = header.version;
  file.metadata_ = std::move(header.metadata);
  file.names_ = std::move(parts.file_names);
  file.mappings_ = std::move(parts.mappings);
  file.tensors_ = std::move(parts.tensors);
  file.made_names_ = std::move(parts.tensor_names);
  file.made_values_ = std::move(parts.values);
  file.index_tensors();
  return file;
}

void GgufFile::add(GgufHeader header) {
  if (header.tensors.size() + tensors_.size() > GgufLimits::kTensors) {
    fail(ErrorCode::bad_input, "{}: the model has more than {} tensors", names_[0],
         GgufLimits::kTensors);
  }
  for (GgufTensor& tensor : header.tensors) {
    tensor.file = static_cast<uint16_t>(names_.size() - 1);
  }
  if (tensors_.empty()) {
    tensors_ = std::move(header.tensors);
  } else {
    tensors_.insert(tensors_.end(), header.tensors.begin(), header.tensors.end());
  }
}

void GgufFile::open_rest_of_split(const std::filesystem::path& first) {
  const std::string name = names_[0];
  const auto split = parse_split_name(first.filename().string());
  const uint64_t count = metadata_.get_unsigned("split.count").value_or(1);
  const uint64_t number = metadata_.get_unsigned("split.no").value_or(0);
  if (count > kMaxSplitFiles) {
    fail(ErrorCode::bad_input, "{}: split.count is {}, at most {} allowed", name, count,
         kMaxSplitFiles);
  }
  if (count <= 1) {
    if (!split || split->count <= 1) return;
    fail(ErrorCode::bad_input, "{}: named as one of {} files, but has no split.count", name,
         split->count);
  }
  if (!split || split->count != count || split->number != number + 1) {
    fail(ErrorCode::bad_input,
         "{}: is file {} of a model split into {}; its name must end in -{:05}-of-{:05}.gguf", name,
         number + 1, count, number + 1, count);
  }
  if (number != 0) {
    fail(ErrorCode::bad_input, "{}: is file {} of {}; open the first one, {}", name, number + 1,
         count, split->file(1));
  }
  for (uint64_t i = 1; i < count; ++i) open_split(first.parent_path() / split->file(i + 1), i);
  index_tensors();
  const auto total = metadata_.get_unsigned("split.tensors.count");
  if (total && tensors_.size() != *total) {
    fail(ErrorCode::bad_input, "{}: the {} files hold {} tensors, split.tensors.count says {}",
         name, count, tensors_.size(), *total);
  }
}

void GgufFile::open_split(const std::filesystem::path& path, uint64_t number) {
  const std::string name = path.string();
  std::error_code unreadable;  // reported by the mapping, with its reason
  if (!std::filesystem::exists(path, unreadable) && !unreadable) {
    fail(ErrorCode::bad_input,
         "{}: missing; all files of a split model must lie in one folder, as {} does", name,
         names_[0]);
  }
  MappedFile mapping(path);
  GgufHeader header = parse_gguf_header(mapping.bytes(), name);
  if (!header.metadata.has("split.no")) {
    fail(ErrorCode::bad_input, "{}: has no split.no, expected {}", name, number);
  }
  expect_key(header.metadata, name, "split.no", number);
  for (const std::string_view key : {"split.count", "split.tensors.count"}) {
    if (const auto value = metadata_.get_unsigned(key)) {
      expect_key(header.metadata, name, key, *value);
    }
  }
  names_.push_back(name);
  mappings_.push_back(std::move(mapping));
  add(std::move(header));
}

void GgufFile::index_tensors() {
  const auto name_of = [this](uint32_t i) { return tensors_[i].name; };
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  std::ranges::sort(by_name_, {}, name_of);
  const auto twice = std::ranges::adjacent_find(by_name_, {}, name_of);
  if (twice != by_name_.end()) {
    const std::string& first = names_[tensors_[*twice].file];
    const std::string& second = names_[tensors_[*std::next(twice)].file];
    fail(ErrorCode::bad_input, "{}: tensor {} occurs twice{}", std::max(first, second),
         printable(name_of(*twice)),
         first == second ? "" : fmt::format(", also in {}", std::min(first, second)));
  }
}

const GgufTensor* GgufFile::find_tensor(std::string_view name) const {
  const auto name_of = [this](uint32_t i) { return tensors_[i].name; };
  const auto it = std::ranges::lower_bound(by_name_, name, {}, name_of);
  return it != by_name_.end() && name_of(*it) == name ? &tensors_[*it] : nullptr;
}

const GgufTensor& GgufFile::require_tensor(std::string_view name) const {
  const GgufTensor* tensor = find_tensor(name);
  if (tensor == nullptr) fail(ErrorCode::bad_input, "{}: tensor {} is missing", names_[0], name);
  return *tensor;
}

const WeightFormat& GgufFile::weight_format(const GgufTensor& tensor) const {
  const WeightFormat* format = find_weight_format(tensor.type);
  if (format == nullptr) {
    fail(
        ErrorCode::bad_input,
        "{}: tensor {} has type {}, which this version cannot compute with; use a model in another "
        "format",
        names_[tensor.file], printable(tensor.name), ggml_type_name(tensor.type));
  }
  return *format;
}

std::optional<std::pair<const MappedFile*, size_t>> GgufFile::locate(
    const GgufTensor& tensor) const {
  if (mappings_.empty()) return std::nullopt;
  const MappedFile& file = mappings_[tensor.file];
  const std::byte* const begin = file.bytes().data();
  const std::byte* const end = begin + file.bytes().size();
  if (std::less<>()(tensor.data.data(), begin) || !std::less<>()(tensor.data.data(), end)) {
    return std::nullopt;
  }
  return std::pair(&file, static_cast<size_t>(tensor.data.data() - begin));
}

void GgufFile::drop(const GgufTensor& tensor) const {
  if (const auto place = locate(tensor)) place->first->drop(place->second, tensor.data.size());
}

void GgufFile::prefetch(const GgufTensor& tensor) const {
  if (const auto place = locate(tensor)) place->first->prefetch(place->second, tensor.data.size());
}

}  // namespace arion
