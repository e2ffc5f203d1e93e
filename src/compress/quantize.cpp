// Planning and writing. Metadata is carried over but for what describes the old types and files.
#include "compress/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>

#include "base/error.h"
#include "base/output_file.h"
#include "compress/encode_tensor.h"
#include "compress/tensor_role.h"
#include "io/ggml_types.h"
#include "io/gguf_writer.h"
#include "io/split_name.h"

namespace arion {

namespace {

constexpr uint32_t kQuantizationVersion = 2;  // of the block layouts

// Keys that are written anew or do not hold for the new file.
constexpr std::array<std::string_view, 10> kReplacedKeys = {"general.file_type",
                                                            "general.quantization_version",
                                                            "general.alignment",
                                                            "split.no",
                                                            "split.count",
                                                            "split.tensors.count",
                                                            "quantize.imatrix.file",
                                                            "quantize.imatrix.dataset",
                                                            "quantize.imatrix.entries_count",
                                                            "quantize.imatrix.chunks_count"};

const ImportanceSums* importance_of(const GgufTensor& tensor, const ImportanceMatrix& matrix) {
  const auto found = matrix.tensors.find(tensor.name);
  if (found == matrix.tensors.end()) return nullptr;
  const ImportanceSums& sums = found->second;
  const uint64_t expected = tensor.cols() * tensor.ne[2] * tensor.ne[3];
  if (sums.sums.size() == expected) return &sums;
  // Embeddings are looked up, not multiplied; what other tools store for them means nothing.
  if (tensor_role(tensor.name) == TensorRole::token_embedding) return nullptr;
  fail(ErrorCode::bad_input, "importance of {} has {} values, expected {}; it is of another model",
       printable(tensor.name), sums.sums.size(), expected);
}

std::string architecture_key(const GgufMetadata& metadata, std::string_view name) {
  return fmt::format("{}.{}", metadata.get_string("general.architecture").value_or(""), name);
}

// Says that rows of queries and keys have the halves of a rotated pair apart although GGUF's
// convention for the architecture has them side by side.
std::string pairing_key(const GgufMetadata& metadata) {
  return architecture_key(metadata, "rope.pairing");
}

// Rows of a head to be interleaved; 0 where all rows stay.
uint64_t interleaved_rows(const GgufMetadata& metadata, std::string_view tensor) {
  constexpr std::array<std::string_view, 4> kParts = {".attn_q.weight", ".attn_k.weight",
                                                      ".attn_q.bias", ".attn_k.bias"};
  const bool is_rotated =
      std::ranges::any_of(kParts, [&](std::string_view part) { return tensor.ends_with(part); });
  if (!is_rotated || !metadata.has(pairing_key(metadata))) return 0;
  return metadata.require_unsigned(architecture_key(metadata, "attention.key_length"));
}

void add_metadata(const QuantizePlan& plan, GgufWriter& writer) {
  const std::string pairing = pairing_key(plan.file->metadata());
  for (const GgufEntry& entry : plan.file->metadata().entries()) {
    if (entry.key == pairing || std::ranges::count(kReplacedKeys, entry.key) > 0) continue;
    writer.add_entry(entry);
  }
  writer.add_u32("general.quantization_version", kQuantizationVersion);
  writer.add_u32("general.file_type", plan.mixture.file_type);
  if (plan.importance == nullptr) return;
  const std::vector<std::string>& datasets = plan.importance->datasets;
  if (!datasets.empty()) writer.add_string("quantize.imatrix.dataset", datasets.front());
  writer.add_u32("quantize.imatrix.entries_count",
                 static_cast<uint32_t>(plan.importance->tensors.size()));
  writer.add_u32("quantize.imatrix.chunks_count", plan.importance->chunks);
}

using Shard = std::span<const TensorPlan>;

// Consecutive tensors that fit together; a tensor larger than a file gets one of its own.
std::vector<Shard> shards_of(const QuantizePlan& plan, uint64_t most_bytes) {
  const Shard all = plan.tensors;
  if (most_bytes == 0) return {all};
  std::vector<Shard> shards;
  size_t begin = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const uint64_t next = all[i].bytes();
    if (i > begin && next > most_bytes - std::min(bytes, most_bytes)) {
      shards.push_back(all.subspan(begin, i - begin));
      begin = i;
      bytes = 0;
    }
    bytes += next;
  }
  shards.push_back(all.subspan(begin));
  return shards;
}

// Metadata is left out of account: what is wanted is an error at once, not after an hour.
void check_room(const QuantizePlan& plan, const std::filesystem::path& path) {
  std::error_code error;
  const auto folder = std::filesystem::absolute(path, error).parent_path();
  const auto room = std::filesystem::space(folder, error);
  if (error || room.available >= plan.bytes()) return;  // what the system does not say may be fine
  fail(ErrorCode::failed, "{}: needs {} bytes, {} are free", path.string(), plan.bytes(),
       room.available);
}

// The first file of a split model is what it is opened by: while others are replaced there is none,
// so that whatever ends the program, old and new files are never read as one model.
void commit_together(std::deque<OutputFile>& files) {
  if (files.size() > 1) files.front().remove_old();
  while (!files.empty()) {
    files.back().commit();
    files.pop_back();
  }
}

}  // namespace

uint64_t TensorPlan::bytes() const {
  const GgmlType& format = *find_ggml_type(type);
  return source->values() / format.block_values * format.block_bytes;
}

uint64_t QuantizePlan::bytes() const {
  return std::accumulate(tensors.begin(), tensors.end(), uint64_t{0},
                         [](uint64_t sum, const TensorPlan& t) { return sum + t.bytes(); });
}

uint64_t QuantizePlan::values() const {
  return std::accumulate(
      tensors.begin(), tensors.end(), uint64_t{0},
      [](uint64_t sum, const TensorPlan& t) { return sum + t.source->values(); });
}

QuantizePlan plan_quantization(const GgufFile& file, const MixtureOptions& options,
                               const ImportanceMatrix* importance) {
  const std::vector<TypeChoice> choices = choose_types(file, options);
  QuantizePlan plan{&file, options.mixture, importance, {}};
  for (size_t i = 0; i < choices.size(); ++i) {
    TensorPlan tensor{&file.tensors()[i], choices[i].type, choices[i].wanted, nullptr,
                      interleaved_rows(file.metadata(), file.tensors()[i].name)};
    if (tensor.interleaved_rows % 2 != 0) {
      fail(ErrorCode::bad_input, "heads have {} elements, expected an even number",
           tensor.interleaved_rows);
    }
    const uint64_t places =
        tensor.source->rows() > 1 ? tensor.source->rows() : tensor.source->cols();
    if (tensor.interleaved_rows > 0 && places % tensor.interleaved_rows != 0) {
      fail(ErrorCode::bad_input, "tensor {} has {} rows, expected whole heads of {}",
           printable(tensor.source->name), places, tensor.interleaved_rows);
    }
    if (importance != nullptr && tensor.is_changed()) {
      tensor.importance = importance_of(*tensor.source, *importance);
    }
    if (choices[i].requires_importance && tensor.importance == nullptr) {
      fail(ErrorCode::usage,
           "{}: {} is too coarse without an importance matrix{}; give one with --imatrix",
           printable(tensor.source->name), ggml_type_name(tensor.type),
           importance != nullptr ? ", and the one given has no such tensor" : "");
    }
    plan.tensors.push_back(tensor);
  }
  return plan;
}

std::vector<std::filesystem::path> output_paths(const QuantizePlan& plan,
                                                const QuantizeOutput& output) {
  if (const auto split = parse_split_name(output.path.filename().string())) {
    fail(ErrorCode::usage, "{}: is named as file {} of a model split into {}; give another name",
         output.path.string(), split->number, split->count);
  }
  const size_t count = shards_of(plan, output.shard_bytes).size();
  if (count == 1) return {output.path};
  if (count > kMaxSplitFiles) {
    fail(ErrorCode::usage, "{} files of at most {} bytes would be needed, at most {} are allowed",
         count, output.shard_bytes, kMaxSplitFiles);
  }
  std::filesystem::path stem = output.path;
  if (stem.extension() == ".gguf") stem.replace_extension();
  const SplitName name{stem.string(), 1, count};
  std::vector<std::filesystem::path> paths;
  for (size_t n = 1; n <= count; ++n) paths.emplace_back(name.file(n));
  return paths;
}

std::vector<std::filesystem::path> write_quantized(const QuantizePlan& plan,
                                                   const QuantizeOutput& output, WorkerPool& pool,
                                                   const QuantizeProgress& progress) {
  std::vector<std::filesystem::path> paths = output_paths(plan, output);
  std::deque<OutputFile> files;
  for (const auto& path : paths) files.emplace_back(path);
  check_room(plan, output.path);
  const std::vector<Shard> shards = shards_of(plan, output.shard_bytes);
  TensorEncoder encoder(pool);
  uint64_t done = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    GgufWriter writer;
    if (i == 0) add_metadata(plan, writer);
    if (shards.size() > 1) {
      writer.add_u16("split.no", static_cast<uint16_t>(i));
      writer.add_u16("split.count", static_cast<uint16_t>(shards.size()));
      writer.add_i32("split.tensors.count", static_cast<int32_t>(plan.tensors.size()));
    }
    for (const TensorPlan& tensor : shards[i]) {
      writer.add_tensor(tensor.source->name, tensor.source->dims(), tensor.type, [&] {
        progress(done);
        std::vector<std::byte> bytes = encoder.encode(tensor);
        plan.file->drop(*tensor.source);
        done += tensor.source->values();
        return bytes;
      });
    }
    writer.write(files[i]);
  }
  commit_together(files);
  return paths;
}

}  // namespace arion
