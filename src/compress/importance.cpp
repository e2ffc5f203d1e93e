// Reading, adding and writing importance matrices.
#include "compress/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "base/error.h"
#include "base/fnv1a.h"
#include "base/mapped_file.h"
#include "io/gguf.h"
#include "io/gguf_writer.h"

namespace arion {

namespace {

constexpr std::string_view kSums = ".in_sum2";
constexpr std::string_view kCounts = ".counts";
constexpr std::string_view kFileKind = "general.type", kDatasets = "imatrix.datasets",
                           kChunks = "imatrix.chunk_count", kChunkTokens = "imatrix.chunk_size",
                           kModelMark = "arion.imatrix.model", kTokenMark = "arion.imatrix.tokens";
constexpr uint32_t kImportanceType = 0;

// The older form counts chunks of a length it does not name; this one is usual.
constexpr int kDatChunkTokens = 512;

constexpr float kLargestSum = std::numeric_limits<float>::max();

// Columns that share a scale in the finest formats.
constexpr size_t kGroup = 16;

[[noreturn]] void malformed(const std::string& file, std::string_view what) {
  fail(ErrorCode::bad_input, "{}: not an importance matrix: {}", printable(file, 4096), what);
}

void check_values(const std::string& file, std::string_view name, std::span<const float> values) {
  const auto bad = std::ranges::find_if(values, [](float v) { return !std::isfinite(v) || v < 0; });
  if (bad == values.end()) return;
  fail(ErrorCode::bad_input,
       "{}: importance of {} has value {} at index {}, expected finite numbers of at least 0; "
       "collect it again",
       printable(file, 4096), printable(name), *bad, bad - values.begin());
}

std::vector<float> floats_of(const std::string& file, const GgufTensor& tensor) {
  if (tensor.type != kImportanceType) malformed(file, "its tensors are not F32");
  std::vector<float> values(tensor.values());
  std::memcpy(values.data(), tensor.data.data(), values.size() * sizeof(float));
  check_values(file, tensor.name, values);
  return values;
}

uint32_t u32_of(const std::string& file, const GgufMetadata& metadata, std::string_view key) {
  const uint64_t value = metadata.get_unsigned(key).value_or(0);
  if (value > UINT32_MAX) malformed(file, fmt::format("{} is {}", key, value));
  return static_cast<uint32_t>(value);
}

ImportanceMatrix load_gguf(const GgufFile& gguf, const std::string& file) {
  const GgufMetadata& metadata = gguf.metadata();
  if (metadata.get_string(kFileKind).value_or("imatrix") != "imatrix") {
    malformed(file, "general.type is not imatrix; is this a model?");
  }
  ImportanceMatrix out;
  if (const auto datasets = metadata.get_strings(kDatasets)) {
    out.datasets.assign(datasets->begin(), datasets->end());
  }
  out.chunks = u32_of(file, metadata, kChunks);
  out.chunk_tokens = u32_of(file, metadata, kChunkTokens);
  out.model_mark = metadata.get_unsigned(kModelMark).value_or(0);
  out.token_mark = metadata.get_unsigned(kTokenMark).value_or(0);
  for (const GgufTensor& tensor : gguf.tensors()) {
    if (!tensor.name.ends_with(kSums)) continue;
    const std::string name(tensor.name.substr(0, tensor.name.size() - kSums.size()));
    const GgufTensor* const counts = gguf.find_tensor(name + std::string(kCounts));
    if (counts == nullptr) malformed(file, fmt::format("{} has no counts", printable(name)));
    if (counts->values() != tensor.rows()) {
      malformed(file, fmt::format("{} has {} rows of sums but {} counts", printable(name),
                                  tensor.rows(), counts->values()));
    }
    out.tensors[name] = {floats_of(file, tensor), floats_of(file, *counts)};
  }
  if (out.tensors.empty()) malformed(file, "it holds no sums of squares");
  return out;
}

// The older form: little-endian i32 and f32 without a magic number.
class DatReader {
 public:
  DatReader(std::span<const std::byte> bytes, const std::string& file)
      : bytes_(bytes), file_(file) {}

  bool is_at_end() const { return bytes_.empty(); }
  int32_t count(int32_t most) {
    int32_t value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    if (value < 0 || value > most) malformed(file_, "a count is out of range");
    return value;
  }
  std::string text() {
    constexpr int32_t kMostBytes = 4096;
    const auto bytes = take(static_cast<size_t>(count(kMostBytes)));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::vector<float> floats(size_t number) {
    const auto bytes = take(number * sizeof(float));
    std::vector<float> values(number);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

 private:
  std::span<const std::byte> take(size_t count) {
    if (count > bytes_.size()) malformed(file_, "it ends early");
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  std::span<const std::byte> bytes_;
  const std::string& file_;
};

ImportanceMatrix load_dat(std::span<const std::byte> bytes, const std::string& file) {
  constexpr int32_t kMostTensors = 1 << 20, kMostValues = 1 << 28;
  DatReader reader(bytes, file);
  ImportanceMatrix out;
  const int32_t tensors = reader.count(kMostTensors);
  if (tensors == 0) malformed(file, "it holds no tensors");
  for (int32_t i = 0; i < tensors; ++i) {
    const std::string name = reader.text();
    const int32_t calls = std::max(1, reader.count(INT32_MAX));
    const int32_t values = reader.count(kMostValues);
    if (values == 0) malformed(file, fmt::format("{} has no values", printable(name)));
    // The values are mean squares times the number of calls, one a chunk.
    ImportanceSums sums{reader.floats(static_cast<size_t>(values)),
                        {static_cast<float>(calls) * kDatChunkTokens}};
    check_values(file, name, sums.sums);
    for (float& value : sums.sums) value = std::min(value * kDatChunkTokens, kLargestSum);
    out.tensors[name] = std::move(sums);
  }
  // Files of newer versions go on with the number of chunks and the name of the text.
  if (reader.is_at_end()) return out;
  out.chunks = static_cast<uint32_t>(reader.count(INT32_MAX));
  out.datasets = {reader.text()};
  return out;
}

// Mean squares of one matrix, as column_weights gives them; false when it was never used.
bool safe_weights(std::span<float> weights) {
  float largest = 0;
  for (const float w : weights) largest = std::max(largest, w);
  if (!(largest > 0)) {
    std::ranges::fill(weights, 1.0f);
    return false;
  }
  const int exponent = std::ilogb(largest);
  double total = 0;
  for (float& w : weights) {
    w = std::scalbn(w, -exponent);
    total += w;
  }
  const auto little = static_cast<float>(1e-6 * total / static_cast<double>(weights.size()));
  for (size_t begin = 0; begin < weights.size(); begin += kGroup) {
    const auto group = weights.subspan(begin, std::min(kGroup, weights.size() - begin));
    if (std::ranges::all_of(group, [](float w) { return w == 0; })) {
      std::ranges::fill(group, little);
    }
  }
  return true;
}

}  // namespace

bool is_importance_matrix(const GgufMetadata& metadata) {
  return metadata.has(kFileKind) ? metadata.get_string(kFileKind) == "imatrix"
                                 : metadata.has(kChunks);
}

uint64_t model_mark(const GgufFile& model) {
  constexpr size_t kSamples = 16, kSampleBytes = 64;  // of a tensor, evenly spaced
  Fnv1a hash;
  for (const GgufEntry& entry : model.metadata().entries()) {
    hash.add(std::as_bytes(std::span(entry.key)));
    hash.add(entry.payload);
  }
  for (const GgufTensor& tensor : model.tensors()) {
    hash.add(std::as_bytes(std::span(tensor.name)));
    hash.add(std::as_bytes(std::span(&tensor.type, 1)));
    hash.add(std::as_bytes(std::span(tensor.ne)));
    const size_t step = std::max(tensor.data.size() / kSamples, kSampleBytes);
    for (size_t at = 0; at < tensor.data.size(); at += step) {
      hash.add(tensor.data.subspan(at, std::min(kSampleBytes, tensor.data.size() - at)));
    }
  }
  return std::max<uint64_t>(hash.value(), 1);
}

ImportanceMatrix ImportanceMatrix::load(const std::filesystem::path& path) {
  const MappedFile file(path);
  constexpr char kMagic[4] = {'G', 'G', 'U', 'F'};
  const auto bytes = file.bytes();
  if (bytes.size() >= sizeof kMagic && std::memcmp(bytes.data(), kMagic, sizeof kMagic) == 0) {
    return load_gguf(GgufFile::parse(bytes, path.string()), path.string());
  }
  return load_dat(bytes, path.string());
}

void ImportanceMatrix::add(const ImportanceMatrix& other) {
  for (const auto& [name, from] : other.tensors) {
    const auto [at, is_new] = tensors.try_emplace(name, from);
    if (is_new) continue;
    ImportanceSums& to = at->second;
    if (to.sums.size() != from.sums.size() || to.counts.size() != from.counts.size()) {
      fail(ErrorCode::bad_input,
           "importance of {} has {} values for {} matrices and {} for {}; the two are of different "
           "models",
           printable(name), to.sums.size(), to.counts.size(), from.sums.size(), from.counts.size());
    }
    const auto sum = [](float a, float b) { return std::min(a + b, kLargestSum); };
    std::ranges::transform(to.sums, from.sums, to.sums.begin(), sum);
    std::ranges::transform(to.counts, from.counts, to.counts.begin(), sum);
  }
  for (const std::string& dataset : other.datasets) {
    if (std::ranges::count(datasets, dataset) == 0) datasets.push_back(dataset);
  }
  chunks = chunks <= UINT32_MAX - other.chunks ? chunks + other.chunks : UINT32_MAX;
  if (chunk_tokens == 0) chunk_tokens = other.chunk_tokens;
  model_mark = token_mark = 0;
}

void ImportanceMatrix::save(const std::filesystem::path& path) const {
  GgufWriter writer;
  writer.add_string(kFileKind, "imatrix");
  writer.add_strings(kDatasets, datasets);
  writer.add_u32(kChunks, chunks);
  writer.add_u32(kChunkTokens, chunk_tokens);
  if (model_mark != 0) writer.add_u64(kModelMark, model_mark);
  if (token_mark != 0) writer.add_u64(kTokenMark, token_mark);
  const auto add_tensor = [&](std::string name, std::span<const float> values, uint64_t rows) {
    const auto bytes = std::as_bytes(values);
    writer.add_tensor(name, std::vector<uint64_t>{values.size() / rows, rows}, kImportanceType,
                      std::vector<std::byte>(bytes.begin(), bytes.end()));
  };
  for (const auto& [name, sums] : tensors) {
    add_tensor(name + std::string(kSums), sums.sums, sums.counts.size());
    add_tensor(name + std::string(kCounts), sums.counts, sums.counts.size());
  }
  writer.write(path);
}

std::optional<std::vector<float>> column_weights(const ImportanceSums& sums) {
  std::vector<float> weights = sums.sums;
  const size_t cols = sums.cols();
  bool is_used = false;
  for (size_t m = 0; m < sums.counts.size(); ++m) {
    const std::span<float> part = std::span(weights).subspan(m * cols, cols);
    const float count = sums.counts[m];
    for (float& w : part) w = count > 0 ? w / count : 0;
    is_used |= safe_weights(part);
  }
  if (!is_used) return std::nullopt;
  return weights;
}

}  // namespace arion
